// Creates the data folder of the embedded PostgreSQL, once: UTF-8, C locale, SCRAM passwords. It is built beside its
// final path and moved there when complete, so that an interrupted start begins again.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Account } from './postgres-account.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { databaseUnreadable, PostgresFailure } from './postgres-failure.ts';

export type DataFolderOptions = {
  folder: string;
  dataFolder: string;
  password: string;
  binaries: PostgresBinaries;
  account: Account;
  user: string;
  /** Also applied to initdb: `fsync=off` skips its syncs, for data that may be lost. */
  settings: Readonly<Record<string, string>>;
};

export async function createDataFolder(options: DataFolderOptions): Promise<void> {
  if (existsSync(options.dataFolder) && readdirSync(options.dataFolder).length > 0)
    throw databaseUnreadable(options.folder, 'PG_VERSION is missing');
  const unfinished = `${options.dataFolder}.unfinished-${process.pid}`;
  const passwordFile = join(options.folder, 'password.initdb');
  removeUnfinished(options);
  writeFileSync(passwordFile, options.password, { mode: 0o600 });
  try {
    const { uid, gid } = options.account.credentials;
    if (uid !== undefined && gid !== undefined) chownSync(passwordFile, uid, gid);
    await runInitdb(options, unfinished, passwordFile);
    renameSync(unfinished, options.dataFolder);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/**
 * An initdb whose parent was killed may still run: it fails on its missing files, and removes only
 * its own.
 */
function removeUnfinished({ folder, dataFolder }: DataFolderOptions): void {
  const isUnfinished = (name: string) => name.startsWith(`${basename(dataFolder)}.unfinished`);
  for (const name of readdirSync(folder).filter(isUnfinished))
    rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Copying a folder file by file loses its mode, and PostgreSQL refuses a folder that others may
 * read.
 */
export function restrictPermissions(dataFolder: string): void {
  try {
    if ((statSync(dataFolder).mode & OTHERS_BITS) !== 0) chmodSync(dataFolder, 0o700);
  } catch {
    // The folder belongs to another user; PostgreSQL reports that itself.
  }
}

const OTHERS_BITS = 0o077;

function runInitdb(
  options: DataFolderOptions,
  target: string,
  passwordFile: string,
): Promise<void> {
  const { file, args } = options.account.command(options.binaries.initdb, [
    `--pgdata=${target}`,
    `--username=${options.user}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    ...(options.settings['fsync'] === 'off' ? ['--no-sync'] : []),
  ]);
  return new Promise((resolve, reject) => {
    // Detached: Ctrl-C in the terminal reaches only Tintype, which stops when this is done.
    const child = spawn(file, args, {
      detached: true,
      cwd: options.folder,
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...options.account.credentials,
    });
    const said: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) return resolve();
      const reason = Buffer.concat(said).toString('utf8').trim().split('\n')[0] ?? '';
      return reject(new PostgresFailure(`the data folder ${target} cannot be created: ${reason}`));
    });
  });
}
