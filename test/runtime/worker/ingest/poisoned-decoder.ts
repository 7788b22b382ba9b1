/** The real decoder, but for bytes that say how a decoder is to go wrong: what an exploit or a bug would do. */
import sharp from 'sharp';
import { ingestJob } from '../../../../runtime/worker/ingest/ingest-job.ts';
import { blockLoaders } from '../../../../runtime/worker/sandbox/loaders.ts';
import { type JobAnswer, serveJobs } from '../../../../runtime/worker/sandbox/serve-jobs.ts';

sharp.cache(false);
sharp.concurrency(1);
blockLoaders();

const kept: Buffer[] = [];
const never = () => new Promise<never>(() => undefined);
const answer = (facts: object, parts: Uint8Array[] = []): JobAnswer => ({ facts, parts });

const behaviours: Record<string, () => Promise<JobAnswer>> = {
  hang: never,
  spin: async () => {
    for (;;) process.pid;
  },
  abort: async () => process.abort(),
  segfault: async () => {
    process.kill(process.pid, 'SIGSEGV');
    return never();
  },
  exit: async () => process.exit(0),
  garbage: async () => answer({ nothing: true }),
  flood: async () => answer({ content_type: 'image/jpeg' }, [Buffer.alloc(50_000_000)]),
  grow: async () => {
    for (;;) {
      kept.push(Buffer.alloc(32_000_000, 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
};

await serveJobs({
  ingest: async (facts, parts, ask) => {
    const [, behaviour] = /^poison:(\w+)/.exec(parts[0]?.subarray(0, 40).toString() ?? '') ?? [];
    return behaviours[behaviour ?? '']?.() ?? ingestJob(facts, parts, ask);
  },
});
