// Makes the data folder of the embedded PostgreSQL, once: UTF-8, C locale, SCRAM passwords. It is made beside its
// place and moved there when complete, so that a start that was interrupted begins anew.
import { spawn } from 'node:child_process';
import { chownSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from './postgres-account.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { PostgresFailure } from './postgres-failure.ts';

export type DataFolderOptions = {
  folder: string;
  dataFolder: string;
  password: string;
  binaries: PostgresBinaries;
  account: Account;
  user: string;
  /** Given to the first files too: `fsync=off` makes them quickly, for data that may be lost. */
  settings: Readonly<Record<string, string>>;
};

export async function createDataFolder(options: DataFolderOptions): Promise<void> {
  const unfinished = `${options.dataFolder}.unfinished`;
  const passwordFile = join(options.folder, 'password.initdb');
  rmSync(unfinished, { recursive: true, force: true });
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
    const child = spawn(file, args, {
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
      return reject(new PostgresFailure(`the data folder ${target} cannot be made: ${reason}`));
    });
  });
}
