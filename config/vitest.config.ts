// Every suite, in parallel, on real servers that the global set-up starts.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // They end what hangs, and judge nobody's speed.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 50_000 } },
    // A machine that was busy elsewhere for a second is no defect; who needed it is named at the end of the run.
    retry: 1,
    pool: 'forks',
    // One more than there are cores: a test that drives real processes mostly waits.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default', './config/summary-reporter.ts'],
  },
});
