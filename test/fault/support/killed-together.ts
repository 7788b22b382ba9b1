/**
 * Stops the attempts of one process, each at its own step, and kills the process with SIGKILL once all have stopped. A
 * call in progress does not wait, so those that stop during one make it at the same time, when all others have stopped.
 */
import type { Step } from './steps.ts';

export type Plan = { upload_id: string; stop_at: Step | null };

export type KilledTogether = {
  /** Resolves when the attempt has come to its place, where it stops or waits for the others. */
  arrival(one: Plan): Promise<void> | undefined;
  /** For `watchSteps`: called at each step. */
  onStep(one: Plan, step: Step): Promise<void> | undefined;
  /** For `watchSteps`: called before each call. */
  onCall(one: Plan, step: Step): Promise<void> | undefined;
};

export function killTogether(plan: readonly Plan[]): KilledTogether {
  const arrivals = new Map(plan.map(({ upload_id }) => [upload_id, Promise.withResolvers<void>()]));
  const everyone = Promise.all([...arrivals.values()].map(({ promise }) => promise));
  /** References the stopped attempts, so that their resources are not garbage-collected. */
  const stopped: Promise<never>[] = [];
  const arrive = async ({ upload_id }: Plan) => {
    arrivals.get(upload_id)?.resolve();
    await everyone;
  };
  const stop = (one: Plan): Promise<never> => {
    const forever = Promise.withResolvers<never>().promise;
    stopped.push(forever);
    if (stopped.length === plan.length) process.kill(process.pid, 'SIGKILL');
    void arrive(one);
    return forever;
  };
  return {
    arrival: ({ upload_id }) => arrivals.get(upload_id)?.promise,
    onStep: (one, step) => {
      if (step === one.stop_at) return stop(one);
      return step === OPENED && isDecoding(one) ? arrive(one) : undefined;
    },
    onCall: (one, step) => (step === one.stop_at ? arrive(one) : undefined),
  };
}

/** The step before the decoder gets its bytes. */
const OPENED: Step = 'after ingest.opened 1';

/** A decoder that has received all bytes does not wait either. */
export function isDecoding({ stop_at }: Pick<Plan, 'stop_at'>): boolean {
  return stop_at?.startsWith('after ingest.verified') === true;
}
