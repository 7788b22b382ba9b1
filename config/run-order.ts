/**
 * The order in which test files begin: the long ones first, then those that share a Tintype, then all others. Test files
 * may run in any order; this one ends first.
 */
import { matchesGlob, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These import other suites and run them again, so they need processes of their own. */
export const ALONE = ['test/**/*on-servers.test.ts'];

/** These take half a minute or more: if one began last, every other process would wait for it. */
const LONG = [
  ...ALONE,
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

const GROUPS = [LONG, TOGETHER];

export class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const groups = Map.groupBy(await super.sort(files), ({ moduleId }) => {
      const path = relative(root, moduleId);
      return GROUPS.find((globs) => globs.some((glob) => matchesGlob(path, glob)));
    });
    return [...GROUPS, undefined].flatMap((group) => groups.get(group) ?? []);
  }
}
