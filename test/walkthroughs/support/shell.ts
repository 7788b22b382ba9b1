/** The terminal for a walkthrough: one bash that runs block after block, in a folder that looks like a clone. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { launcher, makeFolder, projectRoot, type Tintype } from '../../contract/support/tintype.ts';

export type Shell = {
  /** Returns the output of a block, stdout and stderr. Throws if a command fails. */
  type(block: string): Promise<string>;
  /** Stops bash and everything that still runs in the background. */
  close(): Promise<void>;
};

// Replaces `npx tintype` with the launcher of this clone, on the data folder of this run, and `make
// sdk` with a build into this folder.
const SETTING = `npx() { shift; node "$TINTYPE_LAUNCHER" "$@" --data "$TINTYPE_DATA"; }
make() { node config/build-sdk.ts .build/sdk; }
`;

type Setting = { folder: string; tintype: Tintype; env?: Record<string, string> };

export function openShell({ folder, tintype, env: own = {} }: Setting): Shell {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const env = { ...own, PATH, TINTYPE_LAUNCHER: launcher, TINTYPE_DATA: tintype.data };
  return openBash({ folder, env, begin: SETTING });
}

/** Types the next block of a document, and takes it from the list. */
export function typeBlock(shell: Shell, blocks: string[]): Promise<string> {
  const block = blocks.shift();
  if (block === undefined) throw new Error('the document has no further block');
  return shell.type(block);
}

export type BashOptions = {
  folder: string;
  env: Record<string, string | undefined>;
  /** Commands that run before the first block. */
  begin?: string;
};

/** Opens a bash without a Tintype. */
export function openBash({ folder, env: own, begin = '' }: BashOptions): Shell {
  const env = { ...own, HOME: folder };
  // A separate process group, so that background processes can be stopped with bash.
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
      // Without this, a command that reads its input would read the next block.
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
    // The group has ended already.
  }
}

/** Creates a folder with links to the files of this clone that `tintype/sdk` and `make` need. */
export async function makeClone(): Promise<string> {
  const folder = await makeFolder();
  for (const name of ['package.json', 'config', 'docs', 'runtime', 'node_modules']) {
    await symlink(join(projectRoot, name), join(folder, name));
  }
  return folder;
}
