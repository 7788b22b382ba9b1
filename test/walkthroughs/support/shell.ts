/** The terminal that a walkthrough is typed into: one bash, block after block, in a folder that looks like a clone. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { launcher, makeFolder, projectRoot, type Tintype } from '../../contract/support/tintype.ts';

export type Shell = {
  /** What the block printed, both streams as a person sees them; throws it where a command failed. */
  type(block: string): Promise<string>;
  /** Ends bash and whatever still runs in the background. */
  close(): Promise<void>;
};

// What a clone has by `npx tintype`, on the data folder of this run, and by `make sdk`, into this folder.
const SETTING = `npx() { shift; node "$TINTYPE_LAUNCHER" "$@" --data "$TINTYPE_DATA"; }
make() { node config/build-sdk.ts .build/sdk; }
`;

type Setting = { folder: string; tintype: Tintype; env?: Record<string, string> };

export function openShell({ folder, tintype, env: own = {} }: Setting): Shell {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const env = { ...own, PATH, TINTYPE_LAUNCHER: launcher, TINTYPE_DATA: tintype.data };
  return openBash({ folder, env, begin: SETTING });
}

export type BashOptions = {
  folder: string;
  env: Record<string, string | undefined>;
  /** What is typed before the first block. */
  begin?: string;
};

/** One with no Tintype of its own. */
export function openBash({ folder, env: own, begin = '' }: BashOptions): Shell {
  const env = { ...own, HOME: folder };
  // A group of its own, so that what it started in the background can be ended with it.
  const bash = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env, detached: true });
  const ended = new Promise<void>((done) => bash.once('close', () => done()));
  let printed = '';
  let look = () => {};
  bash.stdout.on('data', (chunk: Buffer) => {
    printed += chunk;
    look();
  });
  bash.stdin.write(`set -euo pipefail\nexec 2>&1\n${begin}`);
  return {
    type: async (block) => {
      const mark = randomUUID();
      printed = '';
      const finished = new Promise<void>((done) => {
        look = () => printed.includes(mark) && done();
      });
      // From nothing: what reads its input would read the next block.
      bash.stdin.write(`{\n${block}\n} < /dev/null\nprintf '%s' ${mark}\n`);
      await Promise.race([finished, ended]);
      if (printed.includes(mark)) return printed.slice(0, printed.indexOf(mark));
      throw new Error(`this failed:\n${block}\n${printed}`);
    },
    close: async () => {
      bash.stdin.end();
      endGroup(bash.pid);
      await ended;
    },
  };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGTERM');
  } catch {
    // It has ended already.
  }
}

/** A folder in which `tintype/sdk` and what `make` calls are where they are in a clone. */
export async function makeClone(): Promise<string> {
  const folder = await makeFolder();
  for (const name of ['package.json', 'config', 'docs', 'runtime', 'node_modules']) {
    await symlink(join(projectRoot, name), join(folder, name));
  }
  return folder;
}
