/**
 * Named steps at which a test kills the process or makes a call fail, to prove that nothing is lost or done twice. In
 * production no failpoint is set, so a step calls nothing.
 */

/** In the order in which an upload and its deliveries reach them. */
export const failpoints = [
  'complete.object_found',
  'complete.before_commit',
  'complete.committed',
  'ingest.claimed',
  'ingest.opened',
  'ingest.verified',
  'ingest.decoded',
  'ingest.master_written',
  'ingest.mezzanines_written',
  'ingest.before_publish',
  'ingest.before_commit',
  'ingest.published',
  'ingest.object_deleted',
  'usage.appended',
  'usage.segment_closed',
  'usage.before_commit',
  'usage.committed',
  'webhook.claimed',
  'webhook.sent',
  'webhook.recorded',
  'rollup.before_commit',
  'rollup.committed',
  'charge.before_ledger',
  'charge.ledger_written',
  'charge.before_commit',
  'charge.committed',
  'billing.before_commit',
  'billing.committed',
] as const;

export type FailpointName = (typeof failpoints)[number];

/** Called at each step with its name; if it throws, the step fails. */
export type Failpoint = (name: FailpointName) => void | Promise<void>;

/** Kills this process with SIGKILL when it reaches the step. */
export function killAt(step: FailpointName): Failpoint {
  return (name) => {
    if (name === step) process.kill(process.pid, 'SIGKILL');
  };
}
