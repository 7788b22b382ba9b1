/**
 * The child's side of the sandbox: reads jobs one after another from standard input, answers on file descriptor 3, and
 * ends by force when the parent is gone, whatever native code still runs.
 */
import { Socket } from 'node:net';
import { printFrameHead, readFrames } from './frames.ts';

export type JobHandler = (
  facts: unknown,
  parts: Buffer[],
  admitted: AskAdmission,
) => Promise<JobAnswer>;
export type JobCost = { memory_bytes: number; wall_clock_ms: number };
/** Reports the job's cost, once, and waits for room. False: more than a slot may ever have. */
export type AskAdmission = (cost: JobCost) => Promise<boolean>;
export type JobAnswer = { facts: object; parts: readonly Uint8Array[] };

/**
 * The file descriptor of answers, separate so that the output of libraries cannot get in between.
 */
const ANSWER_FD = 3;
/** The parent limits what it sends; the child accepts what its own parent sends. */
const BOUNDS = { part_bytes_max: Number.MAX_SAFE_INTEGER, parts_max: 8 };

export async function serveJobs(handlers: Record<string, JobHandler>): Promise<void> {
  const answers = new Socket({ fd: ANSWER_FD, readable: false, writable: true });
  // From here on any failure concerns a job.
  send(answers, { message: { ready: true }, parts: [] });
  let asked: PromiseWithResolvers<boolean> | undefined;
  const ask: AskAdmission = (cost) => {
    asked = Promise.withResolvers<boolean>();
    send(answers, { message: { cost }, parts: [] });
    return asked.promise;
  };
  try {
    for await (const { message, parts } of readFrames(process.stdin, BOUNDS)) {
      if (typeof message.admitted === 'boolean') {
        asked?.resolve(message.admitted);
        continue;
      }
      // Not awaited: the parent sends one job at a time, and its end must be noticed while a job
      // runs.
      void handle(handlers, { message, parts }, ask).then((answer) => send(answers, answer));
    }
  } finally {
    // An ordinary exit would wait for the thread pool, and so for the decoder.
    process.kill(process.pid, 'SIGKILL');
  }
}

type Answer = { message: object; parts: readonly Uint8Array[] };

async function handle(
  handlers: Record<string, JobHandler>,
  job: { message: Record<string, unknown>; parts: Buffer[] },
  ask: AskAdmission,
): Promise<Answer> {
  try {
    const handler = handlers[String(job.message.kind)];
    if (handler === undefined) throw new Error(`no handler for ${String(job.message.kind)}`);
    const { facts, parts } = await handler(job.message.facts, job.parts, ask);
    return { message: { ok: true, facts }, parts };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { message: { ok: false, error: text.slice(0, 4000) }, parts: [] };
  }
}

function send(answers: Socket, { message, parts }: Answer): void {
  answers.cork();
  answers.write(
    printFrameHead(
      message,
      parts.map((part) => part.byteLength),
    ),
  );
  for (const part of parts) answers.write(part);
  answers.uncork();
}
