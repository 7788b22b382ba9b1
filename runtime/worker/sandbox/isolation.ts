/**
 * What encloses a decoder beyond Node itself, as far as this kernel allows: its own user, process, network, IPC and
 * file name spaces (bubblewrap), a filter of system calls, no new privileges, resource limits. Tried once, by
 * starting something in it; what does not work is left out and reported.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { printSyscallFilter } from './syscall-filter.ts';

export type Isolation = {
  /** It has a file system, a network, processes and users of its own. */
  has_name_spaces: boolean;
  has_no_new_privileges: boolean;
  has_resource_limits: boolean;
  /** Whatever it is at, and however that ends. */
  ends_with_parent: boolean;
  /** To be written to FILTER_FD of what is started, by whoever starts it; null: no filter. */
  filter: Buffer | null;
  enclose(command: EnclosedCommand): { program: string; arguments: string[] };
};

export type EnclosedCommand = {
  program: string;
  arguments: readonly string[];
  /** What it may read, beside the system's libraries. */
  readable: readonly string[];
  /** Above it, not even an allocation succeeds. */
  data_bytes_max: number;
};

export const FILTER_FD = 4;

let found: Isolation | undefined;

export function findIsolation(): Isolation {
  found ??= tryIsolations();
  return found;
}

/** The ladder, best first; each rung is tried with the filter, then without. */
function tryIsolations(): Isolation {
  const base: Base = {
    limits: findWorking('prlimit', limitArguments(1e12)),
    leash: findWorking('setpriv', LEASH),
  };
  const filter = printSyscallFilter(process.arch) ?? null;
  for (const { programs, makeArguments, has_name_spaces } of enclosures) {
    const outer = programs.map(({ name, words }) => ({ program: findProgram(name), words }));
    const before = outer.flatMap(({ program, words }) => [program ?? [], ...words].flat());
    if (outer.some(({ program }) => program === undefined)) continue;
    // What has no name spaces takes a filter from what can be opened by name alone, as no pipe of a decoder can.
    for (const tried of filter === null || !has_name_spaces ? [null] : [filter, null]) {
      const filtered = tried !== null;
      if (!works([...before, ...makeArguments([process.execPath], { filtered })], tried)) continue;
      return isolationOf(base, { before, makeArguments, has_name_spaces, filter: tried });
    }
  }
  return isolationOf(base, undefined);
}

type Enclosure = {
  /** Programs that start one another, with what each is told; the last gets the made arguments too. */
  before: readonly string[];
  makeArguments: (readable: readonly string[], options: { filtered: boolean }) => string[];
  has_name_spaces: boolean;
  filter: Buffer | null;
};

/** Programs around every enclosure, and where there is none, as far as they work here. */
type Base = { limits: string | undefined; leash: string | undefined };

function isolationOf({ limits, leash }: Base, enclosure: Enclosure | undefined): Isolation {
  const filter = enclosure?.filter ?? null;
  return {
    has_name_spaces: enclosure?.has_name_spaces ?? false,
    has_no_new_privileges: enclosure !== undefined,
    has_resource_limits: limits !== undefined,
    ends_with_parent: leash !== undefined,
    filter,
    enclose: (command) => {
      const outer = limits === undefined ? [] : [limits, ...limitArguments(command.data_bytes_max)];
      const inner = enclosure?.makeArguments(command.readable, { filtered: filter !== null }) ?? [];
      const words = [
        ...outer,
        ...(leash === undefined ? [] : [leash, ...LEASH]),
        ...(enclosure?.before ?? []),
        ...inner,
        command.program,
        ...command.arguments,
      ];
      return { program: words[0] ?? command.program, arguments: words.slice(1) };
    },
  };
}

/** Libraries that programs are linked with. */
const SYSTEM_PATHS = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/nix/store',
  '/etc/ld.so.cache',
] as const;
const NOBODY = '65534';

type Rung = Omit<Enclosure, 'before' | 'filter'> & {
  programs: readonly { name: string; words: readonly string[] }[];
};

/** However the parent ends: nobody else would end what computes for ever, and a decoder reads its input after its work. */
const LEASH = ['--pdeathsig', 'KILL', '--'];
const BUBBLEWRAP = { name: 'bwrap', words: [] };
/**
 * Whatever is killed at whatever moment: bubblewrap is the first process of a name space, with which all others end.
 * Alone, what it has just started would wait for it for ever.
 */
const UNSHARE = {
  name: 'unshare',
  words: ['--user', '--map-root-user', '--pid', '--fork', '--kill-child=SIGKILL', '--'],
};

const enclosures: readonly Rung[] = [
  {
    programs: [UNSHARE, BUBBLEWRAP],
    has_name_spaces: true,
    makeArguments: bubblewrapArguments,
  },
  { programs: [BUBBLEWRAP], has_name_spaces: true, makeArguments: bubblewrapArguments },
  {
    programs: [{ name: 'setpriv', words: [] }],
    has_name_spaces: false,
    makeArguments: setprivArguments,
  },
];

function bubblewrapArguments(readable: readonly string[], { filtered }: { filtered: boolean }) {
  return [
    // No session of its own, as it would then get as much of the machine as all of Tintype. It has no terminal to reach.
    ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'],
    ...['--uid', NOBODY, '--gid', NOBODY],
    ...SYSTEM_PATHS.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--tmpfs', '/tmp'],
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...['--remount-ro', '/', '--chdir', '/'],
    ...(filtered ? ['--seccomp', String(FILTER_FD)] : []),
    '--',
  ];
}

function setprivArguments(): string[] {
  return ['--no-new-privs', '--inh-caps=-all', '--'];
}

/** No core files, no file written, few files open, and memory bounded by the kernel too. */
function limitArguments(dataBytes: number): string[] {
  return ['--core=0', '--fsize=0', '--nofile=128', `--data=${Math.floor(dataBytes)}`, '--'];
}

/** Folders of programs, whatever the environment says. */
const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

function findProgram(name: string): string | undefined {
  return PROGRAM_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function findWorking(name: string, words: readonly string[]): string | undefined {
  const program = findProgram(name);
  return program !== undefined && works([program, ...words], null) ? program : undefined;
}

/** Whether Node starts at the end of these words. */
function works([program, ...words]: string[], filter: Buffer | null): boolean {
  if (program === undefined || process.platform !== 'linux') return false;
  const command = [program, ...words, process.execPath, '--version'];
  const [first = '', ...others] = filter === null ? command : [...HAND_FILTER, ...command];
  const { status } = spawnSync(first, others, {
    cwd: '/',
    env: {},
    stdio: [filter === null ? 'ignore' : 'pipe', 'ignore', 'ignore'],
    ...(filter && { input: filter }),
    timeout: 10_000,
  });
  return status === 0;
}

/** A program that is waited for is given its first pipe alone: that becomes FILTER_FD, the pipe that decoders have too. */
const HAND_FILTER = ['/bin/sh', '-c', `exec "$@" ${FILTER_FD}<&0 </dev/null`, 'sh'];
