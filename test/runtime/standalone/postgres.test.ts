import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../../../runtime/db/client.ts';
import { isProcessAlive } from '../../../runtime/platform/is-process-alive.ts';
import { type Postgres, startPostgres } from '../../../runtime/standalone/postgres.ts';
import { supervisePostgres } from '../../../runtime/standalone/supervise-postgres.ts';
import { silentLog } from '../../operator/kube/silent-log.ts';

const parent = mkdtempSync(join(tmpdir(), 'tintype-postgres-'));
const folder = join(parent, 'data');
const started: Postgres[] = [];

/** These tests only start and stop the server, so durability is turned off. */
const settings = { fsync: 'off', shared_buffers: '16MB' };

async function start(options: { port?: number; folder?: string } = {}): Promise<Postgres> {
  const postgres = await startPostgres({ folder, settings, ...options });
  started.push(postgres);
  return postgres;
}

/** The server's process id: the first line of postmaster.pid. */
const PID = "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid";

async function ask<Row>(url: string, text: string): Promise<Row[]> {
  const db = createDatabase({ url, maxConnections: 1 });
  try {
    return await db.query<Row>(text);
  } finally {
    await db.close();
  }
}

beforeAll(async () => {
  await (await start()).stop();
});

afterAll(async () => {
  for (const postgres of started) await postgres.stop();
  rmSync(parent, { recursive: true, force: true });
});

describe('the embedded PostgreSQL', () => {
  it('keeps what was written from one start to the next', async () => {
    const first = await start();
    expect(first.adopted).toBe(false);
    await ask(first.url, 'create table kept (n int)');
    await first.stop();
    expect(isProcessAlive(first.pid)).toBe(false);
    const second = await start();
    expect(await ask(second.url, 'select * from kept')).toEqual([]);
    await second.stop();
  });

  it('is UTF-8 with C locale, listens only on loopback, and needs the password from a private file', async () => {
    const postgres = await start();
    const [row] = await ask(
      postgres.url,
      `select current_setting('server_encoding') as encoding, datcollate as collate,
         current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets,
         current_setting('password_encryption') as passwords
       from pg_database where datname = current_database()`,
    );
    expect(row).toEqual({
      encoding: 'UTF8',
      collate: 'C',
      addresses: '127.0.0.1',
      sockets: '',
      passwords: 'scram-sha-256',
    });
    expect(statSync(join(folder, 'password')).mode & 0o777).toBe(0o600);
    const wrong = Object.assign(new URL(postgres.url), { password: 'guess' }).href;
    await expect(ask(wrong, 'select 1')).rejects.toMatchObject({ code: 'storage_unavailable' });
    await postgres.stop();
  });

  it('is adopted when its parent was killed, and can then be stopped', async () => {
    const script = `
      const { startPostgres } = await import(${JSON.stringify(moduleUrl())});
      const postgres = await startPostgres(${JSON.stringify({ folder, settings })});
      console.log(postgres.pid);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = await new Promise<number>((resolve) => {
      child.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk.toString())));
    });
    child.kill('SIGKILL');
    const adopted = await start();
    expect(adopted).toMatchObject({ adopted: true, pid });
    expect(await ask(adopted.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await adopted.stop();
    expect(isProcessAlive(pid)).toBe(false);
  });

  it('is ended and started again if its folder was moved while it ran', async () => {
    const [before, after] = [join(parent, 'before'), join(parent, 'after')];
    const left = await start({ folder: before });
    await ask(left.url, 'create table moved (n int)');
    renameSync(before, after);
    const again = await start({ folder: after });
    expect([again.adopted, isProcessAlive(left.pid)]).toEqual([false, false]);
    expect(await ask(again.url, 'select * from moved')).toEqual([]);
    await again.stop();
  });

  it('is ended and started again if its folder is reached through a symbolic link', async () => {
    const left = await start();
    const link = join(parent, 'link');
    symlinkSync(folder, link);
    const again = await start({ folder: link });
    expect([again.adopted, isProcessAlive(left.pid)]).toEqual([false, false]);
    await again.stop();
  });

  it('starts from a folder with lost permissions, and restores them', async () => {
    chmodSync(join(folder, 'data'), 0o755);
    await (await start()).stop();
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
  });

  it('starts with an empty password file', async () => {
    const full = join(parent, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'password'), '');
    const postgres = await start({ folder: full });
    expect(await ask(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await postgres.stop();
  });

  it('recovers with its data after it was killed', async () => {
    const postgres = await start();
    await ask(postgres.url, 'create table survived (n int)');
    process.kill(postgres.pid, 'SIGKILL');
    await postgres.exited;
    const again = await start();
    expect(again.adopted).toBe(false);
    expect(await ask(again.url, 'select * from survived')).toEqual([]);
    await again.stop();
  });

  it('starts if its pid file names an unrelated process', async () => {
    const lines = [process.pid, join(folder, 'data'), 0, 5432, '', '127.0.0.1', '', 'ready'];
    writeFileSync(join(folder, 'data', 'postmaster.pid'), `${lines.join('\n')}\n`);
    const postgres = await start();
    expect(postgres.adopted).toBe(false);
    await postgres.stop();
  });

  it('says which port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(start({ port })).rejects.toThrow(`port ${port} is taken`);
    server.close();
  });

  it('reports that it did not start, and which log to read', async () => {
    const file = join(folder, 'data', 'PG_VERSION');
    const version = readFileSync(file);
    writeFileSync(file, '9\n');
    await expect(start()).rejects.toThrow(/did not start: .*server\.log/);
    writeFileSync(file, version);
  });

  it.each(['starting', 'stopping'])(
    'says what to do about a server that stays %s',
    async (status) => {
      const stuckIn = join(parent, status);
      const data = join(stuckIn, 'data');
      mkdirSync(data, { recursive: true });
      const stuck = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', data]);
      try {
        const file = [stuck.pid, data, 0, 5432, '', '127.0.0.1', '', status].join('\n');
        writeFileSync(join(data, 'postmaster.pid'), file);
        await expect(startPostgres({ folder: stuckIn, adoptDeadlineMs: 100 })).rejects.toThrow(
          `still ${status}: end it with \`kill -QUIT ${stuck.pid}\`, and start again`,
        );
        expect(isProcessAlive(stuck.pid ?? 0)).toBe(true);
      } finally {
        stuck.kill('SIGKILL');
      }
    },
  );

  it('says that a damaged folder cannot be opened, and leaves nothing running', async () => {
    const damaged = join(parent, 'damaged');
    const whole = await start({ folder: damaged });
    await whole.stop();
    rmSync(join(damaged, 'data', 'base'), { recursive: true });
    await expect(start({ folder: damaged })).rejects.toThrow(
      /cannot be opened \(.+\): restore the folder from a backup, or start with an empty one/,
    );
    expect(existsSync(join(damaged, 'data', 'postmaster.pid'))).toBe(false);
  });

  it('reports a folder without PG_VERSION, and does not start in it', async () => {
    const part = join(parent, 'part');
    mkdirSync(join(part, 'data', 'base'), { recursive: true });
    await expect(start({ folder: part })).rejects.toThrow(
      /cannot be opened \(PG_VERSION is missing\): restore the folder from a backup/,
    );
    expect(readdirSync(part).sort()).toEqual(['data', 'password']);
  });

  it('is started again at the same address whenever it ends, until it is stopped', async () => {
    const kept = await supervisePostgres({ folder, settings, log: silentLog });
    const pids: number[] = [];
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      const [row] = await ask<{ pid: number }>(kept.url, PID);
      pids.push(row?.pid ?? 0);
      process.kill(pids.at(-1) ?? 0, signal);
      await expect
        .poll(async () => (await ask<{ pid: number }>(kept.url, PID).catch(() => []))[0]?.pid ?? 0)
        .toSatisfy((pid: number) => pid > 0 && !pids.includes(pid));
    }
    const [last] = await ask<{ pid: number }>(kept.url, PID);
    await kept.stop();
    expect(isProcessAlive(last?.pid ?? 0)).toBe(false);
    await sleep(1000);
    expect(existsSync(join(folder, 'data', 'postmaster.pid'))).toBe(false);
  });

  it('starts over if a first start was interrupted', async () => {
    const fresh = join(parent, 'fresh');
    spawnSync('mkdir', ['-p', join(fresh, 'data.unfinished')]);
    writeFileSync(join(fresh, 'data.unfinished', 'half'), 'half');
    const postgres = await start({ folder: fresh });
    expect(await ask(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(readdirSync(fresh).sort()).toEqual(['data', 'password', 'server.log']);
    await postgres.stop();
  });
});

describe.runIf(process.getuid?.() === 0)('the embedded PostgreSQL as root', () => {
  it('runs in a user namespace, so that files keep their owner', async () => {
    const postgres = await start();
    expect(statSync(join(folder, 'data')).uid).toBe(0);
    const status = readFileSync(`/proc/${postgres.pid}/uid_map`, 'utf8');
    expect(status.trim().split(/\s+/)).toEqual(['65534', '0', '1']);
    await postgres.stop();
  });

  it('runs as nobody if user namespaces are refused, and restarts with the same data', async () => {
    const bin = join(parent, 'bin');
    spawnSync('mkdir', ['-p', bin]);
    writeFileSync(join(bin, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    chmodSync(parent, 0o755);
    const path = process.env['PATH'];
    process.env['PATH'] = `${bin}:${path}`;
    const refused = join(parent, 'refused');
    try {
      const postgres = await start({ folder: refused });
      expect(statSync(join(refused, 'data')).uid).toBe(65_534);
      await postgres.stop();
      await (await start({ folder: refused })).stop();
    } finally {
      process.env['PATH'] = path;
    }
  });
});

function moduleUrl(): string {
  return new URL('../../../runtime/standalone/postgres.ts', import.meta.url).href;
}
