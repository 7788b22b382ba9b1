/**
 * The enclosure of a decoder beyond Node itself, as far as this kernel allows: separate user, process, network, IPC and
 * host name namespaces (bubblewrap), a system call filter, no new privileges, resource limits. Tested once, by starting
 * a program in it; layers that do not work are left out and reported.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { printSyscallFilter } from './syscall-filter.ts';

export type Isolation = {
  /** It has a separate file system, network, processes and users. */
  has_name_spaces: boolean;
  has_no_new_privileges: boolean;
  has_resource_limits: boolean;
  /** It ends with its parent, whatever it is doing, and however the parent ends. */
  ends_with_parent: boolean;
  /** Whoever starts the command must write it to the command's FILTER_FD; null: no filter. */
  filter: Buffer | null;
  enclose(command: EnclosedCommand): { program: string; arguments: string[] };
};

export type EnclosedCommand = {
  program: string;
  arguments: readonly string[];
  /** The paths it may read, besides the system's libraries. */
  readable: readonly string[];
  /** Beyond it, even allocating memory fails. */
  data_bytes_max: number;
};

export const FILTER_FD = 4;

let found: Isolation | undefined;

export function findIsolation(): Isolation {
  found ??= tryIsolations();
  return found;
}

/** Tries the enclosures, best first, each with the filter and then without. */
function tryIsolations(): Isolation {
  const base: Base = {
    limits: findWorking('prlimit', limitArguments(1e12)),
    parentDeathSignal: findWorking('setpriv', PARENT_DEATH_SIGNAL),
  };
  const filter = printSyscallFilter(process.arch) ?? null;
  for (const { programs, makeArguments, has_name_spaces } of enclosures) {
    const outer = programs.map(({ name, words }) => ({ program: findProgram(name), words }));
    const before = outer.flatMap(({ program, words }) => [program ?? [], ...words].flat());
    if (outer.some(({ program }) => program === undefined)) continue;
    // Without namespaces a filter must come from a file that can be opened by name, which a
    // decoder's pipe cannot.
    for (const tried of filter === null || !has_name_spaces ? [null] : [filter, null]) {
      const filtered = tried !== null;
      if (!works([...before, ...makeArguments([process.execPath], { filtered })], tried)) continue;
      return isolationOf(base, { before, makeArguments, has_name_spaces, filter: tried });
    }
  }
  return isolationOf(base, undefined);
}

type Enclosure = {
  /**
   * Programs that start one another, with their arguments; the last one also gets `makeArguments`.
   */
  before: readonly string[];
  makeArguments: (readable: readonly string[], options: { filtered: boolean }) => string[];
  has_name_spaces: boolean;
  filter: Buffer | null;
};

/** Programs around every enclosure, or used alone, as far as they work here. */
type Base = { limits: string | undefined; parentDeathSignal: string | undefined };

function isolationOf(
  { limits, parentDeathSignal }: Base,
  enclosure: Enclosure | undefined,
): Isolation {
  const filter = enclosure?.filter ?? null;
  return {
    has_name_spaces: enclosure?.has_name_spaces ?? false,
    has_no_new_privileges: enclosure !== undefined,
    has_resource_limits: limits !== undefined,
    ends_with_parent: parentDeathSignal !== undefined,
    filter,
    enclose: (command) => {
      const outer = limits === undefined ? [] : [limits, ...limitArguments(command.data_bytes_max)];
      const inner = enclosure?.makeArguments(command.readable, { filtered: filter !== null }) ?? [];
      const words = [
        ...outer,
        ...(parentDeathSignal === undefined ? [] : [parentDeathSignal, ...PARENT_DEATH_SIGNAL]),
        ...(enclosure?.before ?? []),
        ...inner,
        command.program,
        ...command.arguments,
      ];
      return { program: words[0] ?? command.program, arguments: words.slice(1) };
    },
  };
}

/** The libraries with which programs are linked. */
const SYSTEM_PATHS = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/nix/store',
  '/etc/ld.so.cache',
] as const;
const NOBODY = '65534';

type EnclosureCandidate = Omit<Enclosure, 'before' | 'filter'> & {
  programs: readonly { name: string; words: readonly string[] }[];
};

/**
 * However the parent ends: nothing else would end a decoder in an endless computation, as it only
 * reads its input after its work.
 */
const PARENT_DEATH_SIGNAL = ['--pdeathsig', 'KILL', '--'];
const BUBBLEWRAP = { name: 'bwrap', words: [] };
/**
 * For a kill at any moment: bubblewrap is then the first process of a namespace, with which all
 * others end. Without it, a process that bubblewrap has just started would wait for it forever.
 */
const UNSHARE = {
  name: 'unshare',
  words: ['--user', '--map-root-user', '--pid', '--fork', '--kill-child=SIGKILL', '--'],
};

const enclosures: readonly EnclosureCandidate[] = [
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
    // No separate session, which would get as much CPU as all of Tintype. There is no terminal to
    // reach.
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

/** No core files, no file writes, few open files, and memory also limited by the kernel. */
function limitArguments(dataBytes: number): string[] {
  return ['--core=0', '--fsize=0', '--nofile=128', `--data=${Math.floor(dataBytes)}`, '--'];
}

/** Folders searched for programs, independent of the environment. */
const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

function findProgram(name: string): string | undefined {
  return PROGRAM_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function findWorking(name: string, words: readonly string[]): string | undefined {
  const program = findProgram(name);
  return program !== undefined && works([program, ...words], null) ? program : undefined;
}

/** Whether Node starts at the end of this command. */
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

/**
 * spawnSync can only feed standard input, so the shell moves that to FILTER_FD, a pipe as decoders
 * have it.
 */
const HAND_FILTER = ['/bin/sh', '-c', `exec "$@" ${FILTER_FD}<&0 </dev/null`, 'sh'];
