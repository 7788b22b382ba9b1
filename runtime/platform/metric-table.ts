/** Every metric with its words and labels. Labels have few values: never a project, a slug or an id. */

export type MetricRow = {
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
};

/** Of every histogram. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];

/** The metrics by their full names. */
export const metricTable = {
  tintype_api_request_seconds: {
    kind: 'histogram',
    help: 'API requests by route and status.',
    labels: ['method', 'route', 'status'],
  },
  tintype_delivery_request_seconds: {
    kind: 'histogram',
    help: 'Delivery requests by status and where the bytes came from.',
    labels: ['status', 'source'],
  },
  tintype_delivery_bytes_total: {
    kind: 'counter',
    help: 'Bytes of bodies handed to delivery clients.',
    labels: [],
  },
  tintype_usage_unspooled_total: {
    kind: 'counter',
    help: 'Deliveries whose usage the disk did not take: they are kept in memory until the database has them.',
    labels: [],
  },
  tintype_usage_lost_total: {
    kind: 'counter',
    help: 'Deliveries whose usage neither the disk nor the memory took: they are not charged.',
    labels: [],
  },
  tintype_ingest_seconds: {
    kind: 'histogram',
    help: 'Processed uploads by result: ready, or the error code.',
    labels: ['result'],
  },
  tintype_render_seconds: {
    kind: 'histogram',
    help: 'Renders by output format and result: done, timeout or failed. What was given up, as nobody waited any more or a viewer needed its place, is none.',
    labels: ['format', 'result'],
  },
  tintype_decoders_killed_total: {
    kind: 'counter',
    help: 'Decoder processes that were killed, by reason.',
    labels: ['reason'],
  },
  tintype_queue_waiting: {
    kind: 'gauge',
    help: 'Messages and calls that nobody has taken yet, by the queue’s name on the broker: every process sees them alike.',
    labels: ['queue'],
  },
  tintype_queue_in_hand: {
    kind: 'gauge',
    help: 'Messages and calls that this process works on now, by their work: ingest or render.',
    labels: ['queue'],
  },
  tintype_uploads_waiting: {
    kind: 'gauge',
    help: 'Uploads that wait to be processed, or to be tried again after an outage, counted to 10,000. Of the dispatcher.',
    labels: [],
  },
  tintype_uploads_waiting_seconds: {
    kind: 'gauge',
    help: 'How long the oldest of them has waited; 0 where none does. Of the dispatcher.',
    labels: [],
  },
  tintype_cdn_purges_waiting: {
    kind: 'gauge',
    help: 'Purges that are due and that the CDN has not taken, counted to 10,000. Of the dispatcher.',
    labels: [],
  },
  tintype_cdn_purges_waiting_seconds: {
    kind: 'gauge',
    help: 'How long ago the change was that the oldest of them is for; 0 where none waits. Of the dispatcher.',
    labels: [],
  },
  tintype_checks_waiting: {
    kind: 'gauge',
    help: 'Revisions that wait for the scanner, counted to 10,000. Of the dispatcher.',
    labels: [],
  },
  tintype_checks_waiting_seconds: {
    kind: 'gauge',
    help: 'How long the oldest of them has waited; 0 where none does. Of the dispatcher.',
    labels: [],
  },
  tintype_checks_unreviewed: {
    kind: 'gauge',
    help: 'Flagged revisions that no moderator has reviewed, counted to 10,000. Of the dispatcher.',
    labels: [],
  },
  tintype_checks_unreviewed_seconds: {
    kind: 'gauge',
    help: 'How long ago the oldest of them was published; 0 where there is none. Of the dispatcher.',
    labels: [],
  },
  tintype_organizations_over_quota: {
    kind: 'gauge',
    help: 'Organizations whose deliveries are refused with quota_exceeded, by plan: trial or paid (any other plan), counted to 10,000. Of the dispatcher.',
    labels: ['plan'],
  },
  tintype_provider_events_total: {
    kind: 'counter',
    help: 'Events of payment providers by provider (a or b) and result: taken, refused (the provider sends them again), or unsigned (no signature that holds, or refused before it was looked at). Of those that the deployment has.',
    labels: ['provider', 'result'],
  },
  tintype_database_connections: {
    kind: 'gauge',
    help: 'The pool of connections by state: total (open), idle (of those, free), waiting (work that waits for one).',
    labels: ['state'],
  },
  tintype_database_lead_seconds: {
    kind: 'gauge',
    help: 'How far the clock of the database is ahead of the clock of this process.',
    labels: [],
  },
  tintype_dependency_ready: {
    kind: 'gauge',
    help: 'Whether this process can use what it needs: 1 or 0, by dependency: database, ingest, content (the buckets) or broker.',
    labels: ['dependency'],
  },
  tintype_rate_refused_total: {
    kind: 'counter',
    help: 'What was refused with rate_limited, by rate: failed-authentication, write, signed-url, signing-key or access-request.',
    labels: ['rate'],
  },
  tintype_job_seconds: {
    kind: 'histogram',
    help: 'Runs of scheduled jobs by result: succeeded, failed or skipped.',
    labels: ['job', 'result'],
  },
  tintype_job_done_total: {
    kind: 'counter',
    help: 'What scheduled jobs did: objects deleted by kind, uploads completed, purges sent and the like.',
    labels: ['job', 'what'],
  },
  tintype_cdn_purges_total: {
    kind: 'counter',
    help: 'Purges that were due, by what the CDN did: sent (it took them), or failed (they are tried again).',
    labels: ['result'],
  },
  tintype_scans_total: {
    kind: 'counter',
    help: 'Scans of new revisions by result: clear, flagged, failed, put_off (they are tried again) or late (counted for nothing).',
    labels: ['result'],
  },
  tintype_webhook_seconds: {
    kind: 'histogram',
    help: 'Attempts to deliver webhooks by result: delivered, failed (it is tried again) or abandoned.',
    labels: ['result'],
  },
  tintype_job_last_success_seconds: {
    kind: 'gauge',
    help: 'Unix time of the last run that succeeded, of the dispatcher also of runs elsewhere; of the newest migration where none ever did.',
    labels: ['job'],
  },
  tintype_job_last_done: {
    kind: 'gauge',
    help: 'What the last run that succeeded did or found, wherever it ran. Of the dispatcher.',
    labels: ['job', 'what'],
  },
  tintype_job_failed_in_row: {
    kind: 'gauge',
    help: 'Runs that failed, or were killed, since the last one that succeeded, wherever they ran. Of the dispatcher.',
    labels: ['job'],
  },
} as const satisfies Record<`tintype_${string}`, MetricRow>;
