/** A decoder that takes every render and never ends one. */
import { serveJobs } from '../../runtime/worker/sandbox/serve-jobs.ts';

await serveJobs({ render: () => new Promise(() => undefined) });
