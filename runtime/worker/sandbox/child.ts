/**
 * Entry of a decoder: the only process in which libvips sees bytes that a client sent.
 * It has no secrets, no network use and no database, and is killed when it takes too long.
 */
import sharp from 'sharp';
import { ingestJob } from '../ingest/ingest-job.ts';
import { renderJob } from '../render/render-job.ts';
import { blockLoaders } from './loaders.ts';
import { serveJobs } from './serve-jobs.ts';
import { stepBack } from './step-back.ts';

// Before a thread is made that decodes. It counts within a session alone where the kernel groups processes by session,
// so the decoder stays in its parent's.
stepBack();
// A key pressed in the terminal of that session speaks to the parent, which lets decoders end what they do.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
  process.on(signal, () => undefined);
}
sharp.cache(false);
// Explicit: sharp raises it by itself when MALLOC_ARENA_MAX is set.
sharp.concurrency(1);
blockLoaders();

await serveJobs({ ingest: ingestJob, render: renderJob });
