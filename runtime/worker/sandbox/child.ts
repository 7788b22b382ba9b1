/**
 * The entry of a decoder: the only process in which libvips processes bytes from a client. It has no secrets, no
 * network use and no database, and is killed when it takes too long.
 */
import sharp from 'sharp';
import { ingestJob } from '../ingest/ingest-job.ts';
import { renderJob } from '../render/render-job.ts';
import { blockLoaders } from './loaders.ts';
import { lowerPriority } from './lower-priority.ts';
import { serveJobs } from './serve-jobs.ts';

// Before any decoding thread exists. Where the kernel groups processes by session, the priority
// counts only within a session, so the decoder stays in its parent's.
lowerPriority(0, Number(process.argv[3]));
// Ctrl-C in the terminal of that session is for the parent, which lets decoders finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
  process.on(signal, () => undefined);
}
sharp.cache(false);
// Explicit, because sharp raises it when MALLOC_ARENA_MAX is set.
sharp.concurrency(1);
blockLoaders();

await serveJobs({ ingest: ingestJob, render: renderJob });
