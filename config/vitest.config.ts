// Every suite, in parallel, on real servers that the global setup starts.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { ALONE, InOrder } from './run-order.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const limits = {
  // These end tests that hang; they do not judge speed.
  testTimeout: 60_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 50_000, interval: 100 } },
  // A machine that was busy for a second is no defect; the end of the run lists the tests that
  // needed a retry.
  retry: 1,
  pool: 'forks',
  // Node loads the modules, as it does for users, and Vite does not rewrite them.
  experimental: { viteModuleRunner: false },
} as const;

const alone: TestProjectInlineConfiguration = {
  test: { ...limits, root, name: 'alone', include: ALONE },
};
/** In processes that load each module once, as no file changes what another depends on. */
const together: TestProjectInlineConfiguration = {
  test: {
    ...limits,
    ...{ root, name: 'together', isolate: false },
    include: ['test/**/*.test.ts'],
    exclude: ALONE,
  },
};
/** Vitest shuffles only an order of its own. */
const isShuffled = process.argv.some((word) => word.startsWith('--sequence.shuffle'));

export default defineConfig({
  test: {
    root,
    experimental: limits.experimental,
    projects: [alone, together],
    sequence: isShuffled ? {} : { sequencer: InOrder },
    globalSetup: ['test/support/global-setup.ts'],
    // Three more than there are cores: a test that drives real processes mostly waits.
    maxWorkers: availableParallelism() + 3,
    reporters: ['default', './config/summary-reporter.ts'],
  },
});
