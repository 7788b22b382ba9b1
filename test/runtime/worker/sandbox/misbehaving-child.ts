/** A child that misbehaves on demand, over the real protocol of the sandbox. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { printFrameHead } from '../../../../runtime/worker/sandbox/frames.ts';
import { type JobHandler, serveJobs } from '../../../../runtime/worker/sandbox/serve-jobs.ts';

const ANSWER_FD = 3;
/** Identifies one start of the program: process ids repeat, as each sandbox has its own. */
const start = randomUUID();
const never = () => new Promise<never>(() => undefined);
const kept: Buffer[] = [];

const handlers: Record<string, JobHandler> = {
  echo: async (facts, parts) => ({ facts: { facts, start }, parts }),
  environment: async () => ({ facts: { ...process.env, argv: process.execArgv }, parts: [] }),
  throws: async () => {
    throw new Error('deliberate');
  },
  spins: async () => {
    for (;;) process.pid;
  },
  hangs: async () => never(),
  exits: async () => process.exit(7),
  aborts: async () => process.abort(),
  prints: async () => {
    process.stdout.write('a library prints something\n');
    process.stderr.write('and warns');
    return { facts: { printed: true }, parts: [] };
  },
  grows: async () => {
    for (;;) {
      kept.push(Buffer.alloc(16_000_000, 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
  keeps: async () => {
    kept.push(Buffer.alloc(200_000_000, 1));
    return { facts: {}, parts: [] };
  },
  babbles: async () => {
    writeSync(ANSWER_FD, 'HTTP/1.1 200 OK\r\n\r\n');
    return never();
  },
  'greets again': async () => {
    for (;;) writeSync(ANSWER_FD, printFrameHead({ ready: true }, []));
  },
  promises: async () => {
    const head = Buffer.from(JSON.stringify({ message: { ok: true, facts: {} }, parts: [1e12] }));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    writeSync(ANSWER_FD, Buffer.concat([length, head]));
    return never();
  },
  floods: async () => {
    const chunk = Buffer.alloc(65_536, 0x20);
    for (;;) writeSync(ANSWER_FD, chunk);
  },
  complains: async () => {
    for (;;) complain();
  },
  'answers and complains': async () => {
    setInterval(complain, 1);
    return { facts: {}, parts: [] };
  },
  writes: async () => tried(() => writeFileSync('/tmp/from-the-sandbox', 'x')),
  spawns: async () => tried(() => process.getBuiltinModule('child_process').execSync('true')),
  reads: async () => tried(() => readFileSync('/etc/passwd')),
};

/** Writes to standard error, unless the pipe is full. */
function complain(): void {
  try {
    writeSync(2, Buffer.alloc(65_536, 0x20));
  } catch (error) {
    if ((error as { code?: string }).code !== 'EAGAIN') throw error;
  }
}

async function tried(work: () => unknown) {
  try {
    return { facts: { result: String(work()) }, parts: [] };
  } catch (error) {
    return { facts: { refused: (error as { code?: string }).code ?? String(error) }, parts: [] };
  }
}

await serveJobs(handlers);
