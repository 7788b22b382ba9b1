/** A child that starts slowly, as on a busy machine, and then answers immediately. */
import { setTimeout as sleep } from 'node:timers/promises';
import { serveJobs } from '../../../../runtime/worker/sandbox/serve-jobs.ts';

const START_MS = 3000;

await sleep(START_MS);
await serveJobs({ echo: async (facts) => ({ facts: { facts }, parts: [] }) });
