// Every suite, in parallel, on real servers that the global set-up starts.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Their files run in processes that load each module once: none of them changes what another one meets. What runs the
 * suites of others once more loads them itself.
 */
const SHARED = [
  'test/{cluster,config,docs,operator,spec}/**/*.test.ts',
  'test/runtime/{actions,api,cli,core,db,delivery,doctor,jobs,platform}/**/!(*on-servers).test.ts',
];

const limits = {
  // They end what hangs, and judge nobody's speed.
  testTimeout: 60_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 50_000 } },
  // A machine that was busy elsewhere for a second is no defect; who needed it is named at the end of the run.
  retry: 1,
  pool: 'forks',
} as const;

const shared: TestProjectInlineConfiguration = {
  test: { ...limits, root, name: 'shared', include: SHARED, isolate: false },
};
const alone: TestProjectInlineConfiguration = {
  test: { ...limits, root, name: 'alone', include: ['test/**/*.test.ts'], exclude: SHARED },
};

export default defineConfig({
  test: {
    root,
    projects: [alone, shared],
    globalSetup: ['test/support/global-setup.ts'],
    // One more than there are cores: a test that drives real processes mostly waits.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default', './config/summary-reporter.ts'],
  },
});
