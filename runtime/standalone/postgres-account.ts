// PostgreSQL refuses to run as root. As root we try these accounts and take the first that works: a user namespace in
// which root appears as nobody (no file changes its owner), the owner of the data folder or of its parent, nobody.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PostgresFailure } from './postgres-failure.ts';

export type Account = {
  /** What to spawn to run the program under this account. */
  command(program: string, args: readonly string[]): { file: string; args: string[] };
  credentials: { uid?: number; gid?: number };
};

const NOBODY = 65_534;
const UNSHARE_ARGS = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];

export function chooseAccount(folder: string, program: string): Account {
  const isRoot = process.getuid?.() === 0;
  const plain = () => plainAccount({});
  const accounts = isRoot ? accountsOfRoot(folder) : [plain, namespaceAccount];
  for (const makeAccount of accounts) {
    const account = makeAccount();
    if (canRun(account, folder, program)) return account;
  }
  throw new PostgresFailure(
    isRoot
      ? `PostgreSQL refuses to run as root, and no other account reaches ${folder}: start Tintype as another user, or choose a folder outside /root with --data`
      : `PostgreSQL cannot run here: the user ${process.getuid?.()} needs a name in /etc/passwd and write access to ${folder}`,
  );
}

function accountsOfRoot(folder: string): (() => Account)[] {
  const owners = [statSync(folder), statSync(dirname(folder))].filter((owner) => owner.uid !== 0);
  return [
    namespaceAccount,
    ...owners.map(
      ({ uid, gid }) =>
        () =>
          giveTo(folder, { uid, gid }),
    ),
    () => giveTo(folder, { uid: NOBODY, gid: NOBODY }),
  ];
}

function plainAccount(credentials: Account['credentials']): Account {
  return { credentials, command: (file, args) => ({ file, args: [...args] }) };
}

function namespaceAccount(): Account {
  return {
    credentials: {},
    command: (program, args) => ({ file: 'unshare', args: [...UNSHARE_ARGS, program, ...args] }),
  };
}

function giveTo(folder: string, credentials: { uid: number; gid: number }): Account {
  spawnSync('chown', ['-R', `${credentials.uid}:${credentials.gid}`, folder]);
  return plainAccount(credentials);
}

// PostgreSQL needs a user with a name. An account is also unusable when it cannot write the folder,
// or cannot enter the folder of the program.
function canRun(account: Account, folder: string, program: string): boolean {
  const script = 'id -un >/dev/null && test -w "$0" && test -x "$1"';
  const { file, args } = account.command('/bin/sh', ['-c', script, folder, program]);
  return spawnSync(file, args, { stdio: 'ignore', ...account.credentials }).status === 0;
}
