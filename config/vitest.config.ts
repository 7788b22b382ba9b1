// Every suite, in parallel, on real servers that the global set-up starts.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // One more than there are cores: a test that drives real processes mostly waits.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default', './config/summary-reporter.ts'],
  },
});
