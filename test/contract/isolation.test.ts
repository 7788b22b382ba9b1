// Machines without bubblewrap, and without util-linux, too: decoders run with the isolation that remains, the doctor
// reports it, and a starting Tintype warns. The programs are hidden in a separate mount namespace.
import { spawn } from 'node:child_process';
import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import {
  launcher,
  makeFolder,
  makeStarted,
  projectRoot,
  removeFolder,
  upArgs,
} from './support/tintype.ts';

/** No server runs at this URL. The test needs only the doctor's checks of this machine. */
const env = { ...process.env, TINTYPE_DATABASE_URL: 'postgres://x@127.0.0.1:9/x' };

/** Runs Node with these arguments in a mount namespace where the programs cannot be started. */
function startWithout(
  programs: readonly string[],
  nodeArguments: readonly string[],
  env = process.env,
) {
  const hide = programs.map((name) => `mount --bind /dev/null /usr/bin/${name}`);
  const script = [...hide, 'exec "$0" "$@"'].join(' && ');
  const own = ['--user', '--map-root-user', '--mount', 'sh', '-c', script];
  return spawn('unshare', [...own, process.execPath, ...nodeArguments], {
    cwd: projectRoot,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function runWithout(programs: readonly string[], nodeArguments: readonly string[]) {
  const child = startWithout(programs, nodeArguments, env);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (stdout === '') throw new Error(`nothing was said: ${stderr}`);
  return { answer: JSON.parse(stdout), stderr };
}

const probe = join(projectRoot, 'test/support/probe-decoder.ts');
const denied = {
  read: 'ERR_ACCESS_DENIED',
  write: 'ERR_ACCESS_DENIED',
  start: 'ERR_ACCESS_DENIED',
};

type Case = {
  hidden: string[];
  has: {
    has_name_spaces: boolean;
    has_no_new_privileges: boolean;
    has_resource_limits: boolean;
    ends_with_parent: boolean;
  };
};

const nothing = {
  has_name_spaces: false,
  has_no_new_privileges: false,
  has_resource_limits: false,
  ends_with_parent: false,
};

const cases: Record<string, Case> = {
  'without bubblewrap': {
    hidden: ['bwrap'],
    has: {
      ...nothing,
      has_no_new_privileges: true,
      has_resource_limits: true,
      ends_with_parent: true,
    },
  },
  'without bubblewrap and setpriv': {
    hidden: ['bwrap', 'setpriv'],
    has: { ...nothing, has_resource_limits: true },
  },
  'without any of it': {
    hidden: ['bwrap', 'setpriv', 'prlimit'],
    has: nothing,
  },
};

describe.each(Object.entries(cases))('decoder isolation %s', (_name, { hidden, has }) => {
  it('keeps the remaining kernel limits, denies reads, writes and child processes, and hides secrets', async () => {
    const { answer } = await runWithout(hidden, [probe]);
    const { has_filter, ...said } = answer.said;
    expect(said).toEqual(has);
    expect([has_filter, answer.is_filtered]).toEqual([false, false]);
    expect(answer.no_new_privileges).toBe(has.has_no_new_privileges);
    expect(answer.open_files_max === 128).toBe(has.has_resource_limits);
    expect(answer.tried).toEqual({ ...denied, secrets: '' });
  });

  it('is reported by the doctor, which decodes a picture and advises on each missing layer', async () => {
    const { answer } = await runWithout(hidden, [launcher, 'doctor', '--json']);
    type Checked = { area: string; name: string; outcome: string; advice?: string };
    const sandbox = (answer.checks as Checked[]).filter(({ area }) => area === 'decoder sandbox');
    const outcomeOf = (word: RegExp) => sandbox.find(({ name }) => word.test(name))?.outcome;
    const expected = (isThere: boolean) => (isThere ? 'ok' : 'warning');
    expect(outcomeOf(/decodes a picture/)).toBe('ok');
    expect(outcomeOf(/bubblewrap/)).toBe(expected(has.has_name_spaces));
    expect(outcomeOf(/no new privileges/)).toBe(expected(has.has_no_new_privileges));
    expect(outcomeOf(/resource limits/)).toBe(expected(has.has_resource_limits));
    expect(outcomeOf(/ends with its worker/)).toBe(expected(has.ends_with_parent));
    expect(outcomeOf(/seccomp/)).toBe('warning');
    for (const { outcome, advice } of sandbox) expect(advice === undefined).toBe(outcome === 'ok');
  });
});

it('a decoder starts if node_modules is a symbolic link to another folder', async () => {
  const clone = await makeFolder();
  try {
    for (const name of ['runtime', 'package.json']) {
      await cp(join(projectRoot, name), join(clone, name), { recursive: true });
    }
    await symlink(join(projectRoot, 'node_modules'), join(clone, 'node_modules'));
    const { answer } = await runWithout([], [join(clone, 'runtime/main.ts'), 'doctor', '--json']);
    type Checked = { name: string; outcome: string };
    const decodes = (answer.checks as Checked[]).find(({ name }) => name === 'decodes a picture');
    expect(decodes).toMatchObject({ outcome: 'ok' });
  } finally {
    await removeFolder(clone);
  }
});

describe('tintype up', () => {
  it.each([
    ['bubblewrap', ['bwrap'], /warn.*decoders run without some layers of their isolation/],
    [
      'anything that isolates',
      cases['without any of it']?.hidden ?? [],
      /error.*THE KERNEL ISOLATES NO DECODER/,
    ],
  ] as const)(
    'without %s logs that isolation is missing, and points to tintype doctor',
    async (_what, hidden, says) => {
      const data = await makeStarted();
      const child = startWithout(hidden, [launcher, ...upArgs(data)]);
      try {
        const said = await firstMatch(child.stderr, says);
        expect(said).toContain('tintype doctor');
      } finally {
        const ended = new Promise((done) => child.once('exit', done));
        child.kill('SIGTERM');
        await ended;
        await removeFolder(data);
      }
    },
  );
});

async function firstMatch(stream: AsyncIterable<Buffer>, wanted: RegExp): Promise<string> {
  let said = '';
  for await (const chunk of stream) {
    said += chunk.toString();
    const line = said.split('\n').find((each) => wanted.test(each));
    if (line !== undefined) return line;
  }
  throw new Error(`it only said: ${said}`);
}
