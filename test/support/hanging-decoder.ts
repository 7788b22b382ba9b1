/** A decoder that accepts renders and never finishes them. */
import { serveJobs } from '../../runtime/worker/sandbox/serve-jobs.ts';

await serveJobs({ render: () => new Promise(() => undefined) });
