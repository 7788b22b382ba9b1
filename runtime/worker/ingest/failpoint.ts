/** Named points on an upload's way at which a test can end the process or make a call fail. */

export type FailpointName = (typeof failpoints)[number];
export type Failpoint = (name: FailpointName) => void | Promise<void>;

/** In the order in which an upload passes them. */
export const failpoints = [
  'claimed',
  'opened',
  'verified',
  'decoded',
  'master-written',
  'mezzanines-written',
  'before-publish',
  'published',
  'ingest-deleted',
] as const;

export const noFailpoint: Failpoint = () => undefined;
