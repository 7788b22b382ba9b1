// Every suite, in parallel, on real servers that the global setup starts.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/** These import other suites and run them again, so they need processes of their own. */
const ALONE = ['test/**/*on-servers.test.ts'];

/** These take half a minute or more: if one began last, every other process would wait for it. */
const LONG = [
  'test/cluster/{crashes-*,declared-images,image-service,install,kill-operator,leader,mended-by-spec}.test.ts',
  'test/cluster/{narrow-watch,optional-types,soak,undone-routes,uninstall}.test.ts',
  'test/contract/{api-fuzz,decoders,deployment,standalone,upload-restart}.test.ts',
  'test/fault/{api-kill,commit,database,ingest-kill}.test.ts',
  'test/runtime/delivery/lookup-cache.test.ts',
  'test/runtime/platform/queue/rabbitmq*.test.ts',
  'test/runtime/worker/ingest/{hostile-corpus,memory-estimate,svg/browser,turned-jpeg}.test.ts',
  'test/runtime/worker/render/alike.test.ts',
  'test/walkthroughs/{moderator-and-billing,on-call,platform,tenant}.test.ts',
];

/**
 * These share a Tintype, which would idle between them for the whole run (3 % of a core) if they did
 * not run together.
 */
const TOGETHER = [
  'test/contract/{api-guide,files-and-recipes,formats,photographs,project-answers,svg,tenant,typed-client,upload-folder}.test.ts',
  'test/contract/api-page.test.ts',
  'test/runtime/sdk/{browser/*,server/upload-handler}.test.ts',
  'test/runtime/web/{picker,strangers}.test.ts',
];

const limits = {
  // These end tests that hang; they do not judge speed.
  testTimeout: 60_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 50_000, interval: 100 } },
  // A machine that was busy for a second is no defect; the end of the run lists the tests that
  // needed a retry.
  retry: 1,
  pool: 'forks',
} as const;

const alone: TestProjectInlineConfiguration = {
  test: { ...limits, root, name: 'alone', include: ALONE },
};
/** Processes that load each module once, as no file changes what another depends on. */
const shared = { ...limits, root, isolate: false } as const;
const long: TestProjectInlineConfiguration = { test: { ...shared, name: 'long', include: LONG } };
const together: TestProjectInlineConfiguration = {
  test: { ...shared, name: 'on-one-tintype', include: TOGETHER },
};
const short: TestProjectInlineConfiguration = {
  test: {
    ...shared,
    name: 'short',
    include: ['test/**/*.test.ts'],
    exclude: [...ALONE, ...LONG, ...TOGETHER],
  },
};

export default defineConfig({
  test: {
    root,
    // Projects start in the order of their names, and run concurrently.
    projects: [alone, long, together, short],
    globalSetup: ['test/support/global-setup.ts'],
    // Three more than there are cores: a test that drives real processes mostly waits.
    maxWorkers: availableParallelism() + 3,
    reporters: ['default', './config/summary-reporter.ts'],
  },
});
