/** What a run of the bench depends on besides the code: figures of two runs are compared only with this beside them. */
import { execFileSync } from 'node:child_process';
import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { projectRoot } from '../contract/support/tintype.ts';

export type Machine = {
  cpu: string;
  cores: number;
  memory_gb: number;
  system: string;
  node: string;
  /** When the run began, in UTC. */
  date: string;
  /** Of the tree that was measured; `+` after it if files of the tree were changed since. */
  commit: string;
};

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${arch()}`,
    node: process.version,
    date: `${new Date().toISOString().slice(0, 19)}Z`,
    commit: git('describe', '--always', '--abbrev=12', '--exclude=*', '--dirty=+') ?? 'unknown',
  };
}

export function printMachine({ cpu, cores, memory_gb, system, node, date, commit }: Machine) {
  return `${cores} cores of ${cpu}, ${memory_gb} GB, ${system}, Node ${node.slice(1)}, ${date}, commit ${commit}`;
}

/** Null outside a repository. */
function git(...words: string[]): string | null {
  try {
    return execFileSync('git', words, {
      cwd: projectRoot,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      // A look at the tree must not wait for others that write to the index, or make them wait.
      env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
    }).trim();
  } catch {
    return null;
  }
}
