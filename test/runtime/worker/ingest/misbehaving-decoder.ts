/** A decoder whose behavior is named by the uploaded bytes. */
import { type JobAnswer, serveJobs } from '../../../../runtime/worker/sandbox/serve-jobs.ts';

const kept: Buffer[] = [];

const lie = {
  content_type: 'image/jpeg',
  width: 1e9,
  height: -1,
  dominant_color: '<script>',
  mezzanines: [],
  metadata: [],
};

const behaviours: Record<string, () => Promise<JobAnswer>> = {
  hang: () => new Promise(() => undefined),
  crash: async () => process.abort(),
  // The exit code of bwrap if its decoder was killed.
  killed: async () => process.exit(137),
  garbage: async () => ({ facts: { nothing: true }, parts: [] }),
  lie: async () => ({ facts: lie, parts: [Buffer.from('x')] }),
  grow: () => {
    kept.push(Buffer.alloc(300_000_000, 1));
    return new Promise(() => undefined);
  },
};

await serveJobs({
  ingest: async (_facts, [bytes]) => {
    const behaviour = bytes?.toString() ?? '';
    return (await behaviours[behaviour]?.()) ?? { facts: { what: behaviour }, parts: [] };
  },
});
