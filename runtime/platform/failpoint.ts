/**
 * Named steps at which a test ends the process, or makes a call fail, to prove that nothing is lost or done twice.
 * Nobody passes a failpoint in production: a step then asks a function that is not there.
 */

/** In the order in which an upload and its deliveries pass them. */
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

/** Asked at each step with its name; what it throws is as if the step had failed. */
export type Failpoint = (name: FailpointName) => void | Promise<void>;

/** Ends this process without a word when it comes to the step. */
export function killAt(step: FailpointName): Failpoint {
  return (name) => {
    if (name === step) process.kill(process.pid, 'SIGKILL');
  };
}
