/**
 * Defines how each fenced block of the documents is tested. A claim covers the blocks of one language in a page, or
 * below one heading. test/docs/blocks.test.ts checks that every block has a claim, that every claim has its blocks, and
 * that the tests of a claim read them from the page.
 */

/** How a block is tested. */
export type How =
  /** Typed, started, served or imported as written, with the real product or server. */
  | 'run'
  /** Compared with what the product prints or returns. */
  | 'shown'
  /** Accepted by its own schema or grammar. */
  | 'taken'
  /** Identical to a file, or a part of one, that has its own tests. */
  | 'copied';

export type Claim = {
  /** `*` stands for any name. */
  page: string;
  language: string;
  under?: string;
  blocks: number;
  how: How;
  by: readonly string[];
  /** What the test does instead, where it cannot do all that a reader does. */
  instead?: string;
};

/** For blocks that the guard itself can check, without running anything. */
const HERE = 'test/docs/blocks.test.ts';
const TYPED = 'test/docs/typed.test.ts';
const KEYS = 'test/docs/key-replacement.test.ts';
const IN_A_CLUSTER = 'test/cluster/documents.test.ts';
const NAMESPACE_GOES = 'test/cluster/narrow-watch.test.ts';
const FROM_NOTHING = 'test/cluster/from-nothing.test.ts';
const INSTALL = 'test/cluster/install.test.ts';
const ON_CALL = 'test/walkthroughs/on-call.test.ts';
const PLATFORM = 'test/walkthroughs/platform.test.ts';
const TENANT = 'test/walkthroughs/tenant.test.ts';
const DEVELOPER = 'test/walkthroughs/developer.test.ts';
const MODERATOR = 'test/walkthroughs/moderator-and-billing.test.ts';
const README = 'test/contract/readme.test.ts';
const E2E = 'test/e2e/installation.e2e.ts';
const FRONTS = 'test/runtime/delivery/fronts.test.ts';
const UPLOADER = 'test/runtime/sdk/browser/uploader.test.ts';
const PACKAGE = 'test/runtime/sdk/package.test.ts';
const PICKER = 'test/runtime/web/picker.test.ts';
const TRANSFORMS = 'test/docs/transforms.test.ts';
const SETTINGS = 'test/docs/settings.test.ts';

type Row = readonly [
  page: string,
  language: string,
  blocks: number,
  how: How,
  by: readonly string[],
];

const row = ([page, language, blocks, how, by]: Row, more: Partial<Claim> = {}): Claim => ({
  ...{ page, language, blocks, how, by },
  ...more,
});

export const claims: readonly Claim[] = [
  row(['README.md', 'mermaid', 1, 'taken', [HERE]]),
  row(['README.md', 'console', 1, 'shown', ['test/runtime/standalone/banner.test.ts', README]], {
    instead: 'the tests start what `make --dry-run up` says that it would',
  }),
  row(['README.md', 'sh', 3, 'run', [README]]),
  row(['README.md', 'yaml', 1, 'run', [README]]),

  row(['CONTRIBUTING.md', 'sh', 1, 'taken', ['test/docs/contributing.test.ts']], {
    instead: 'an hour of it: Vitest lists the files that it would run, and they read the variable',
  }),

  row(['charts/tintype/README.md', 'console', 3, 'run', [INSTALL]]),
  row(['config/generate/manifests/chart-readme.md', 'console', 3, 'copied', [HERE]]),
  row(['config/generate/openapi/guide.md', 'sh', 1, 'run', ['test/contract/api-guide.test.ts']]),
  row(['config/generate/openapi/guide.md', 'js', 1, 'run', ['test/contract/api-guide.test.ts']]),

  row(['docs/architecture.md', 'mermaid', 1, 'taken', [HERE]]),
  row(['docs/billing.md', 'yaml', 1, 'run', [SETTINGS]]),
  row(['docs/billing.md', 'text', 2, 'run', [SETTINGS]]),
  row(['docs/cdn.md', 'dotenv', 5, 'taken', [SETTINGS]]),
  row(['docs/cdn.md', 'text', 1, 'run', [FRONTS]], {
    instead:
      'all but `proxy_cache_purge`: its module, with parts of keys, is in no package of Debian',
  }),
  row(['docs/deployment.md', 'console', 1, 'shown', ['test/contract/deployment.test.ts']], {
    under: 'Is everything there?',
  }),
  row(['docs/deployment.md', 'console', 1, 'taken', ['test/contract/on-servers.test.ts']], {
    under: 'On one machine with real servers',
    instead: 'a start by the same variables, with the addresses of real servers',
  }),
  row(['docs/deployment.md', 'sh', 4, 'run', [KEYS]]),
  row(['docs/deployment.md', 'text', 2, 'run', [FRONTS]]),
  row(['docs/errors/*.md', 'json', 147, 'taken', [HERE]]),
  row(['docs/getting-started.md', 'sh', 7, 'run', [README]]),
  row(['docs/image-service.md', 'sh', 1, 'run', [IN_A_CLUSTER]]),
  row(['docs/image-service.md', 'yaml', 1, 'taken', [IN_A_CLUSTER]]),

  row(['docs/kubernetes.md', 'console', 1, 'run', [FROM_NOTHING]], {
    under: 'PostgreSQL, RabbitMQ and storage',
    instead: 'the test answers as CloudNativePG does',
  }),
  row(['docs/kubernetes.md', 'console', 2, 'run', [INSTALL, FROM_NOTHING]], { under: 'Install' }),
  row(['docs/kubernetes.md', 'console', 3, 'run', [FROM_NOTHING, E2E]], {
    under: 'From nothing to an image',
    instead: 'the commands from the token on need nodes: `make e2e` types them',
  }),
  row(['docs/kubernetes.md', 'sh', 9, 'run', [IN_A_CLUSTER, NAMESPACE_GOES]]),
  row(['docs/kubernetes.md', 'text', 1, 'shown', [IN_A_CLUSTER]]),

  row(['docs/libraries.md', 'sh', 3, 'run', [TYPED]]),
  row(['docs/moderation.md', 'sh', 5, 'run', [TYPED]]),
  row(['docs/moderation.md', 'text', 1, 'shown', [TYPED]]),
  row(['docs/picker.md', 'sh', 1, 'run', [TYPED]]),
  row(['docs/picker.md', 'ts', 3, 'run', [PICKER, PACKAGE]]),
  row(['docs/picker.md', 'mermaid', 1, 'taken', [HERE]]),
  row(['docs/reference/errors.md', 'json', 1, 'taken', [HERE]]),
  row(
    [
      'docs/runbook/README.md',
      'sh',
      6,
      'run',
      ['test/cluster/runbook.test.ts', 'test/contract/deployment.test.ts', E2E],
    ],
    {
      instead:
        'without a node up to where the API server asks its kubelet, and the rest on processes',
    },
  ),
  row(['docs/scanner.md', 'json', 1, 'taken', ['test/docs/scanner.test.ts']]),
  row(['docs/schema.md', 'mermaid', 1, 'taken', [HERE]]),
  row([
    'docs/sdk.md',
    'ts',
    8,
    'run',
    [UPLOADER, 'test/runtime/sdk/browser/uppy.test.ts', PACKAGE],
  ]),
  row(['docs/transforms.md', 'json', 1, 'run', [TRANSFORMS]]),
  row(['docs/transforms.md', 'yaml', 2, 'run', [TRANSFORMS]]),
  row(['docs/webhooks.md', 'ts', 1, 'run', ['test/docs/webhooks.test.ts']]),

  row(['docs/walkthroughs/developer.md', 'yaml', 1, 'run', [DEVELOPER]]),
  row(['docs/walkthroughs/developer.md', 'console', 1, 'run', [DEVELOPER]]),
  row(['docs/walkthroughs/developer.md', 'sh', 9, 'run', [DEVELOPER]]),
  row(['docs/walkthroughs/developer.md', 'text', 1, 'shown', [DEVELOPER]]),
  row(['docs/walkthroughs/developer.md', 'js', 1, 'copied', [DEVELOPER]]),
  row(['docs/walkthroughs/moderator-and-billing.md', 'console', 1, 'run', [MODERATOR]]),
  row(['docs/walkthroughs/moderator-and-billing.md', 'sh', 11, 'run', [MODERATOR]]),
  row(['docs/walkthroughs/moderator-and-billing.md', 'text', 1, 'shown', [MODERATOR]]),
  row(['docs/walkthroughs/on-call.md', 'sh', 10, 'run', [ON_CALL]]),
  row(['docs/walkthroughs/on-call.md', 'json', 1, 'shown', [ON_CALL]]),
  row(['docs/walkthroughs/on-call.md', 'text', 9, 'shown', [ON_CALL]]),
  row(['docs/walkthroughs/platform.md', 'yaml', 3, 'run', [PLATFORM]]),
  row(['docs/walkthroughs/platform.md', 'sh', 7, 'run', [PLATFORM]]),
  row(['docs/walkthroughs/tenant.md', 'console', 1, 'run', [TENANT]]),
  row(['docs/walkthroughs/tenant.md', 'sh', 11, 'run', [TENANT]]),
  row(['docs/walkthroughs/tenant.md', 'text', 1, 'shown', [TENANT]]),
];
