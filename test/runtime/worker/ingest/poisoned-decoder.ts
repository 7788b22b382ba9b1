/** The real decoder, except for uploads that name a misbehavior, as an exploit or a bug could cause it. */
import sharp from 'sharp';
import { ingestJob } from '../../../../runtime/worker/ingest/ingest-job.ts';
import { blockLoaders } from '../../../../runtime/worker/sandbox/loaders.ts';
import {
  type AskAdmission,
  type JobAnswer,
  serveJobs,
} from '../../../../runtime/worker/sandbox/serve-jobs.ts';

sharp.cache(false);
sharp.concurrency(1);
blockLoaders();

const kept: Buffer[] = [];
const never = () => new Promise<never>(() => undefined);
const answer = (facts: object, parts: Uint8Array[] = []): JobAnswer => ({ facts, parts });

/** A short deadline for behaviors that never end; the others keep enough time on a busy machine. */
const SHORT = { memory_bytes: 1, wall_clock_ms: 500 };

const behaviours: Record<string, (ask: AskAdmission) => Promise<JobAnswer>> = {
  hang: async (ask) => {
    await ask(SHORT);
    return never();
  },
  spin: async (ask) => {
    await ask(SHORT);
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
    return behaviours[behaviour ?? '']?.(ask) ?? ingestJob(facts, parts, ask);
  },
});
