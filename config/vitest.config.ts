// Every suite, in parallel, on real servers that the global set-up starts.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/** They run the suites of others once more, and load them themselves. */
const ALONE = ['test/**/*on-servers.test.ts'];

/** They take half a minute or more: one that began last would be waited for by every other process. */
const LONG = [
  'test/cluster/{crashes-*,image-service,install,kill-operator,leader,optional-types,soak,uninstall}.test.ts',
  'test/contract/{api-fuzz,decoders,deployment,standalone}.test.ts',
  'test/fault/{api-kill,commit,ingest-kill}.test.ts',
  'test/runtime/delivery/lookup-cache.test.ts',
  'test/runtime/platform/queue/rabbitmq*.test.ts',
  'test/runtime/worker/ingest/{hostile-corpus,memory-estimate,svg/browser,turned-jpeg}.test.ts',
  'test/runtime/worker/render/alike.test.ts',
  'test/walkthroughs/{on-call,platform,tenant}.test.ts',
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

const alone: TestProjectInlineConfiguration = {
  test: { ...limits, root, name: 'alone', include: ALONE },
};
/** Processes that load each module once: no file changes what another one meets. */
const shared = { ...limits, root, isolate: false } as const;
const long: TestProjectInlineConfiguration = { test: { ...shared, name: 'long', include: LONG } };
const short: TestProjectInlineConfiguration = {
  test: { ...shared, name: 'short', include: ['test/**/*.test.ts'], exclude: [...ALONE, ...LONG] },
};

export default defineConfig({
  test: {
    root,
    // They begin in the order of their names, and go on beside each other.
    projects: [alone, long, short],
    globalSetup: ['test/support/global-setup.ts'],
    // Two more than there are cores: a test that drives real processes mostly waits.
    maxWorkers: availableParallelism() + 2,
    reporters: ['default', './config/summary-reporter.ts'],
  },
});
