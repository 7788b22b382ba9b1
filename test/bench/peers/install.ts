/** Installs the peers once from their registries into `.bench/peers`: thumbor from PyPI and ipx from npm. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../contract/support/tintype.ts';

export const THUMBOR_VERSION = '7.7.7';
export const IPX_VERSION = '3.1.1';

const folder = join(projectRoot, '.bench', 'peers');

/** The programs that start the peers. Null if one cannot be installed here, which is printed. */
export type Installed = { thumbor: string | null; ipx: string | null };

export function installPeers(): Installed {
  mkdirSync(folder, { recursive: true });
  return {
    thumbor: installed(join(folder, 'thumbor', 'bin', 'thumbor'), installThumbor),
    ipx: installed(join(folder, 'ipx', 'node_modules', '.bin', 'ipx'), installIpx),
  };
}

function installed(program: string, install: () => void): string | null {
  try {
    if (!existsSync(program)) install();
    return program;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`  cannot be installed here, goes on without it: ${why}\n`);
    return null;
  }
}

function installThumbor(): void {
  say(`thumbor ${THUMBOR_VERSION} (PyPI)`);
  const home = join(folder, 'thumbor');
  run('python3', ['-m', 'venv', home]);
  run(join(home, 'bin', 'pip'), ['install', '--quiet', `thumbor==${THUMBOR_VERSION}`]);
}

function installIpx(): void {
  say(`ipx ${IPX_VERSION} (npm)`);
  const words = ['--no-audit', '--no-fund', '--ignore-scripts', `ipx@${IPX_VERSION}`];
  run('npm', ['install', '--silent', '--prefix', join(folder, 'ipx'), ...words]);
}

function run(command: string, args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function say(what: string): void {
  process.stderr.write(`Installing ${what} into .bench/peers, for comparison only.\n`);
}
