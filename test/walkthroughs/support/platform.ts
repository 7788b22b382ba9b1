/** Types the blocks of docs/walkthroughs/platform.md, with its example addresses replaced by those of the test. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { readFences, readShellBlocks } from '../../contract/support/blocks.ts';
import type { TestBucket } from '../../contract/support/servers.ts';
import { makeFolder, projectRoot, removeFolder } from '../../contract/support/tintype.ts';
import { clusterShell } from '../../support/kube-tools.ts';
import { openBash } from './shell.ts';

const DOCUMENT = 'docs/walkthroughs/platform.md';
const STEPS = [
  'prepare',
  'install',
  'upgrade',
  'backup',
  'restore',
  'rebuild',
  'uninstall',
] as const;

export type Step = (typeof STEPS)[number];

export type Platform = {
  /** Types the block of this step and returns the output. */
  step(name: Step): Promise<string>;
  close(): Promise<void>;
};

export type PlatformOptions = {
  kubeconfig: string;
  /** Folders of programs, at the beginning of PATH. */
  tools: readonly string[];
  /** The replacements: values in the document, and those of the test. */
  here: Readonly<Record<string, string>>;
};

/** The replacements of the bucket for backups, and of the key to it. */
export function nameBackups({ url, credentials }: TestBucket): Record<string, string> {
  return {
    'https://example-tintype-backups.s3.eu-central-1.amazonaws.com': url,
    'aws:amz:eu-central-1:s3': 'aws:amz:us-east-1:s3',
    'AKIABACKUPS:example': `${credentials.accessKeyId}:${credentials.secretAccessKey}`,
  };
}

export async function openPlatform({
  kubeconfig,
  tools,
  here,
}: PlatformOptions): Promise<Platform> {
  const fences = readFences(DOCUMENT);
  const blocks = readShellBlocks(DOCUMENT);
  if (blocks.length !== STEPS.length) throw new Error(`${DOCUMENT} has other steps by now`);
  const all = fences.map(({ text }) => text).join('\n');
  const unknown = Object.keys(here).filter((words) => !all.includes(words));
  if (unknown.length > 0) throw new Error(`${DOCUMENT} does not say: ${unknown.join(', ')}`);
  const spell = (text: string) =>
    Object.entries(here).reduce(
      (replaced, [words, mine]) => replaced.replaceAll(words, mine),
      text,
    );

  const folder = await makeFolder();
  await symlink(projectRoot, join(folder, 'tintype'));
  await mkdir(join(folder, 'fleet'));
  for (const { name, text } of fences.filter((each) => each.name !== '')) {
    await writeFile(join(folder, name), spell(text));
  }
  const cluster = clusterShell(folder);
  const shell = openBash({
    folder,
    env: {
      ...cluster,
      PATH: [...tools, cluster.PATH].join(delimiter),
      KUBECONFIG: kubeconfig,
    },
  });
  return {
    step: (name) => shell.type(spell(blocks[STEPS.indexOf(name)] ?? '')),
    close: async () => {
      await shell.close();
      await removeFolder(folder);
    },
  };
}
