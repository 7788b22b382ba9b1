/** Every metric with its help text and labels. Labels have few values: never a project, a slug or an id. */

export type MetricRow = {
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
};

/** The buckets of every histogram. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];

/** The metrics by their full names. */
export const metricTable = {
  tintype_api_request_seconds: {
    kind: 'histogram',
    help: 'API requests by route and status. Without a route (none): unknown paths, and what is not valid HTTP, whose method is none too if it could not be read.',
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
  tintype_delivery_refused_total: {
    kind: 'counter',
    help: 'Refused deliveries by error code. A rise of invalid_request means that somebody sends malformed HTTP, or that a proxy does. A rise of invalid_signature or unknown_kid means that somebody forges signed URLs, or that a server signs with a lost key.',
    labels: ['code'],
  },
  tintype_usage_unspooled_total: {
    kind: 'counter',
    help: 'Deliveries whose usage could not be written to disk: it is kept in memory until the database has it.',
    labels: [],
  },
  tintype_usage_lost_total: {
    kind: 'counter',
    help: 'Deliveries whose usage neither disk nor memory could hold: they are not charged.',
    labels: [],
  },
  tintype_ingest_seconds: {
    kind: 'histogram',
    help: 'Processed uploads by result: ready, or the error code.',
    labels: ['result'],
  },
  tintype_render_seconds: {
    kind: 'histogram',
    help: 'Renders by output format and result: done, timeout or failed. Not counted: renders that were given up because nobody waited any more or a viewer needed their place.',
    labels: ['format', 'result'],
  },
  tintype_decoders_killed_total: {
    kind: 'counter',
    help: 'Killed decoder processes, by reason.',
    labels: ['reason'],
  },
  tintype_queue_waiting: {
    kind: 'gauge',
    help: 'Messages and calls that no worker has taken yet, by the name of the queue on the broker: every process reports the same value.',
    labels: ['queue'],
  },
  tintype_queue_in_hand: {
    kind: 'gauge',
    help: 'Messages and calls that this process is working on, by kind of work: ingest or render.',
    labels: ['work'],
  },
  tintype_uploads_waiting: {
    kind: 'gauge',
    help: 'Uploads that wait to be processed, or to be retried after an outage, counted up to 10,000. Reported by the dispatcher.',
    labels: [],
  },
  tintype_uploads_waiting_seconds: {
    kind: 'gauge',
    help: 'How long the oldest waiting upload has waited; 0 if none waits. Reported by the dispatcher.',
    labels: [],
  },
  tintype_cdn_purges_waiting: {
    kind: 'gauge',
    help: 'Purges that are due and that the CDN has not accepted, counted up to 10,000. Reported by the dispatcher.',
    labels: [],
  },
  tintype_cdn_purges_waiting_seconds: {
    kind: 'gauge',
    help: 'Age of the change behind the oldest waiting purge; 0 if none waits. Reported by the dispatcher.',
    labels: [],
  },
  tintype_checks_waiting: {
    kind: 'gauge',
    help: 'Revisions that wait for the scanner, counted up to 10,000. Reported by the dispatcher.',
    labels: [],
  },
  tintype_checks_waiting_seconds: {
    kind: 'gauge',
    help: 'How long the oldest revision has waited for the scanner; 0 if none waits. Reported by the dispatcher.',
    labels: [],
  },
  tintype_checks_unreviewed: {
    kind: 'gauge',
    help: 'Flagged revisions that no moderator has reviewed, counted up to 10,000. Reported by the dispatcher.',
    labels: [],
  },
  tintype_checks_unreviewed_seconds: {
    kind: 'gauge',
    help: 'How long ago the oldest unreviewed revision was published; 0 if there is none. Reported by the dispatcher.',
    labels: [],
  },
  tintype_organizations_over_quota: {
    kind: 'gauge',
    help: 'Organizations whose deliveries are refused with quota_exceeded, by plan: trial or paid (any other plan), counted up to 10,000. Reported by the dispatcher.',
    labels: ['plan'],
  },
  tintype_provider_events_total: {
    kind: 'counter',
    help: 'Events of the configured payment providers by provider (a or b) and result: taken, refused (the provider sends them again), or unsigned (no valid signature, or refused before the signature was checked).',
    labels: ['provider', 'result'],
  },
  tintype_database_connections: {
    kind: 'gauge',
    help: 'The connection pool by state: total (open connections), idle (the free ones of these), waiting (tasks that wait for a connection).',
    labels: ['state'],
  },
  tintype_database_lead_seconds: {
    kind: 'gauge',
    help: 'How far the clock of the database is ahead of the clock of this process.',
    labels: [],
  },
  tintype_dependency_ready: {
    kind: 'gauge',
    help: 'Whether this process can use a dependency, 1 or 0: database, ingest, content (the buckets) or broker.',
    labels: ['dependency'],
  },
  tintype_rate_refused_total: {
    kind: 'counter',
    help: 'Requests refused with rate_limited, by rate: failed-authentication, write, signed-url, signing-key or access-request.',
    labels: ['rate'],
  },
  tintype_job_seconds: {
    kind: 'histogram',
    help: 'Runs of scheduled jobs by result: succeeded, failed or skipped.',
    labels: ['job', 'result'],
  },
  tintype_job_done_total: {
    kind: 'counter',
    help: 'Work done by scheduled jobs: objects deleted by kind, uploads completed, purges sent and so on.',
    labels: ['job', 'what'],
  },
  tintype_cdn_purges_total: {
    kind: 'counter',
    help: 'Purges that were due, by result: sent (the CDN accepted them) or failed (they are retried).',
    labels: ['result'],
  },
  tintype_scans_total: {
    kind: 'counter',
    help: 'Scans of new revisions by result: clear, flagged, failed, put_off (they are retried) or late (the result is discarded).',
    labels: ['result'],
  },
  tintype_webhook_seconds: {
    kind: 'histogram',
    help: 'Attempts to deliver webhooks by result: delivered, failed (they are retried) or abandoned.',
    labels: ['result'],
  },
  tintype_job_last_success_seconds: {
    kind: 'gauge',
    help: 'Unix time of the last run that succeeded; the dispatcher also reports runs elsewhere. If none ever succeeded, the time of the newest migration.',
    labels: ['job'],
  },
  tintype_job_last_done: {
    kind: 'gauge',
    help: 'What the last successful run did or found, wherever it ran. Reported by the dispatcher.',
    labels: ['job', 'what'],
  },
  tintype_job_failed_in_row: {
    kind: 'gauge',
    help: 'Runs that failed or were killed since the last successful one, wherever they ran. Reported by the dispatcher.',
    labels: ['job'],
  },
} as const satisfies Record<`tintype_${string}`, MetricRow>;
