/** A decoder that accepts every render and never finishes one. */
import { serveJobs } from '../../runtime/worker/sandbox/serve-jobs.ts';

await serveJobs({ render: () => new Promise(() => undefined) });
