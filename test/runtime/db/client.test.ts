import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../runtime/core/errors.ts';
import { createDatabase, type Database, type Queryable } from '../../../runtime/db/client.ts';
import {
  ConstraintViolation,
  describeFailure,
  InDoubtCommit,
} from '../../../runtime/db/failures.ts';
import { useDatabase } from '../../support/database.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

const { db, url, open } = useDatabase();

beforeAll(async () => {
  await db.query('create table marks (mark text primary key)');
});
beforeEach(async () => {
  await db.query('truncate marks');
});

const backendPid = async (client: Pick<Database, 'query'>) => {
  const [row] = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return row?.pid ?? 0;
};
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );
const signal = (pid: number, name: 'STOP' | 'CONT') => spawnSync('kill', [`-${name}`, String(pid)]);

describe('values in query results', () => {
  it('are numbers, exact strings, dates and parsed JSON', async () => {
    const [row] = await db.query(
      `select 9007199254740991::int8 as big, array[1, null]::int8[] as list, 1.50::numeric as price,
        date '2026-03-01' as day, timestamptz '2026-03-01T00:00:00.123Z' as at, '{"a":1}'::jsonb as json`,
    );
    expect(row).toEqual({
      big: Number.MAX_SAFE_INTEGER,
      list: [1, null],
      price: '1.50',
      day: '2026-03-01',
      at: new Date('2026-03-01T00:00:00.123Z'),
      json: { a: 1 },
    });
  });

  it('beyond the safe integers are rejected instead of rounded', async () => {
    await expect(db.query('select 9007199254740993::int8')).rejects.toThrow(RangeError);
  });
});

describe('a transaction', () => {
  it('is rolled back as a whole if its callback throws', async () => {
    const work = db.transaction(async (tx) => {
      await tx.query(`insert into marks values ('half')`);
      throw new Error('changed our mind');
    });
    await expect(work).rejects.toThrow('changed our mind');
    expect(await db.query('select * from marks')).toEqual([]);
  });

  it('rejects if a failed statement was swallowed, instead of rolling back silently', async () => {
    const work = db.transaction(async (tx) => {
      await tx.query(`insert into marks values ('swallowed')`);
      await tx.query('select 1 / 0').catch(() => undefined);
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await db.query(`select * from marks where mark = 'swallowed'`)).toEqual([]);
  });

  it('is retried after a deadlock until both sides succeed', async () => {
    await db.query('drop table if exists pairs');
    await db.query('create table pairs (id int primary key, n int not null)');
    await db.query('insert into pairs values (1, 0), (2, 0)');
    let [attempts, held] = [0, 0];
    const [bothHaveOne, oneIsDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const add = async (order: number[]) => {
      await db.transaction(async (tx) => {
        attempts += 1;
        // Otherwise the deadlock's victim could retake its row before the survivor gets it.
        if (attempts > 2) await oneIsDone.promise;
        await tx.query(`set local deadlock_timeout = '20ms'`);
        for (const each of order) {
          await tx.query('update pairs set n = n + 1 where id = $1', [each]);
          held += 1;
          if (held === 2) bothHaveOne.resolve();
          await bothHaveOne.promise;
        }
      });
      oneIsDone.resolve();
    };
    await Promise.all([add([1, 2]), add([2, 1])]);
    expect(attempts).toBe(3);
    expect(await db.query('select n from pairs')).toEqual([{ n: 2 }, { n: 2 }]);
  });

  it('rejects queries on its handle after its end, and leaks nothing into the next one', async () => {
    const one = open({ maxConnections: 1 });
    const kept: Queryable[] = [];
    await one.transaction(async (tx) => {
      kept.push(tx);
    });
    const failed = one.transaction(async (tx) => {
      kept.push(tx);
      throw new ServiceError('project_exists');
    });
    expect(await codeOf(failed)).toBe('project_exists');
    await one.transaction(async (tx) => {
      for (const each of kept) {
        const late = each.query(`insert into marks values ('late')`);
        await expect(late).rejects.toThrow('has ended');
      }
      await tx.query('select 1');
    });
    expect(kept).toHaveLength(2);
    expect(await one.query(`select * from marks where mark = 'late'`)).toEqual([]);
  });

  it('begun by a plain query ends with its connection, which is closed', async () => {
    const one = open({ maxConnections: 1 });
    const pid = await backendPid(one);
    await one.query('begin');
    expect(await backendPid(one)).not.toBe(pid);
    await one.query(`insert into marks values ('outside')`);
    expect(await db.query(`select * from marks where mark = 'outside'`)).toHaveLength(1);
  });

  it('begun and failed in a plain query ends with its connection, which is closed', async () => {
    const one = open({ maxConnections: 1 });
    const pid = await backendPid(one);
    await one.query('begin; select 1 / 0').catch(() => undefined);
    expect(await backendPid(one)).not.toBe(pid);
    expect(await one.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is rolled back and keeps its connection if a deferred constraint rejects the commit', async () => {
    const one = open({ maxConnections: 1 });
    const pid = await backendPid(one);
    await one.query('create table twins (n int unique deferrable initially deferred)');
    const work = one.transaction((tx) => tx.query('insert into twins values (1), (1)'));
    expect(await work.catch((error) => error)).toBeInstanceOf(ConstraintViolation);
    expect(await one.query('select * from twins')).toEqual([]);
    expect(await backendPid(one)).toBe(pid);
  });

  it('keeps its connection after an error of the caller', async () => {
    const one = open({ maxConnections: 1 });
    const pid = await backendPid(one);
    const work = one.transaction(async () => {
      throw new ServiceError('project_exists');
    });
    expect(await codeOf(work)).toBe('project_exists');
    expect(await backendPid(one)).toBe(pid);
  });
});

describe('database failures', () => {
  it('of a constraint carry its kind and name, and keep the connection', async () => {
    const one = open({ maxConnections: 1 });
    const pid = await backendPid(one);
    await one.query('create table taken (name text constraint taken_name unique)');
    await one.query(`insert into taken values ('a')`);
    const failure = await one.query(`insert into taken values ('a')`).catch((error) => error);
    expect(failure).toBeInstanceOf(ConstraintViolation);
    expect(failure).toMatchObject({ kind: 'unique', constraint: 'taken_name', table: 'taken' });
    expect(await backendPid(one)).toBe(pid);
  });

  it('of a statement beyond its deadline are query_timeout and close the connection', async () => {
    const one = open({ maxConnections: 1, queryTimeoutMs: 200 });
    const pid = await backendPid(one);
    expect(await codeOf(one.query('select pg_sleep(30)'))).toBe('query_timeout');
    expect(await backendPid(one)).not.toBe(pid);
  });

  it('of a killed backend are storage_unavailable, and the next query gets a new backend', async () => {
    const one = open({ maxConnections: 1 });
    const pid = await backendPid(one);
    const sleeping = codeOf(one.query('select pg_sleep(30)'));
    await db.query('select pg_terminate_backend($1, 5000)', [pid]);
    expect(await sleeping).toBe('storage_unavailable');
    expect(await backendPid(one)).not.toBe(pid);
  });

  it('of a backend killed while idle are reported to onIdleFailure only', async () => {
    const seen: unknown[] = [];
    const one = open({ maxConnections: 1, onIdleFailure: (error) => seen.push(error) });
    const pid = await backendPid(one);
    await db.query('select pg_terminate_backend($1, 5000)', [pid]);
    await expect.poll(() => seen).toMatchObject([{ code: 'storage_unavailable' }]);
    expect(await backendPid(one)).not.toBe(pid);
  });

  it('of a connection that ends in the moment that it is opened are storage_unavailable', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    process.on('uncaughtExceptionMonitor', note);
    const proxy = await endAtOpening();
    const address = new URL(url());
    address.port = String(proxy.port);
    const one = createDatabase({ url: address.href, maxConnections: 1 });
    expect(await codeOf(one.query('select 1'))).toBe('storage_unavailable');
    await one.close();
    proxy.close();
    process.off('uncaughtExceptionMonitor', note);
    expect(uncaught).toEqual([]);
  });

  it('of a server that panics are storage_unavailable, whatever the error code', () => {
    const message = 'could not write to log file "000000010000000000000001": Read-only file system';
    const panic = Object.assign(new Error(message), { severity: 'PANIC', code: '42501' });
    expect(describeFailure(panic)).toMatchObject({ code: 'storage_unavailable', cause: panic });
    const denied = Object.assign(new Error('permission denied for table files'), {
      severity: 'ERROR',
      code: '42501',
    });
    expect(describeFailure(denied)).toBe(denied);
  });

  it('of a backend killed inside a transaction leave nothing behind', async () => {
    const one = open({ maxConnections: 1 });
    const work = one.transaction(async (tx) => {
      await tx.query(`insert into marks values ('killed')`);
      await db.query('select pg_terminate_backend($1, 5000)', [await backendPid(tx)]);
      await tx.query('select 1');
    });
    expect(await codeOf(work)).toBe('storage_unavailable');
    expect(await one.query(`select * from marks where mark = 'killed'`)).toEqual([]);
  });

  it('of a frozen server are query_timeout for every caller, and the pool recovers with it', async () => {
    const one = open({ maxConnections: 2, queryTimeoutMs: 100, connectTimeoutMs: 500 });
    const inside = one.transaction(async (tx) => {
      const pid = await backendPid(tx);
      signal(pid, 'STOP');
      return codeOf(tx.query('select 1')).finally(() => signal(pid, 'CONT'));
    });
    expect(await codeOf(inside)).toBe('query_timeout');
    const pid = await backendPid(one);
    signal(pid, 'STOP');
    expect(await codeOf(one.query('select 1'))).toBe('query_timeout');
    expect(await one.query('select 1 as one')).toEqual([{ one: 1 }]);
    signal(pid, 'CONT');
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => one.query('select $1::int as n', [n])),
    );
    expect(answers).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }], [{ n: 4 }]]);
  });

  it('of a server with an untrusted certificate are storage_unavailable', async () => {
    const secureContext = createSecureContext(makeSelfSigned('localhost'));
    const server = createServer((socket) => {
      // The reply to SSLRequest: the client starts TLS next.
      socket.once('data', () => {
        socket.write('S');
        new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => undefined);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const distrusting = createDatabase({
      url: `postgres://a:b@localhost:${port}/x?sslmode=verify-full`,
    });
    expect(await codeOf(distrusting.query('select 1'))).toBe('storage_unavailable');
    await distrusting.close();
    server.close();
  });

  it('of a server that is absent, silent, full or refuses the login are storage_unavailable', async () => {
    const nobody = createDatabase({ url: 'postgres://a:b@127.0.0.1:1/x' });
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const hanging = createDatabase({
      url: `postgres://a:b@127.0.0.1:${port}/x`,
      connectTimeoutMs: 100,
    });
    const wrong = createDatabase({
      url: Object.assign(new URL(url()), { password: 'wrong' }).href,
    });
    for (const away of [nobody, hanging, wrong]) {
      expect(await codeOf(away.query('select 1'))).toBe('storage_unavailable');
      await away.close();
    }
    silent.close();
    // Leaves time to connect on a busy machine.
    const full = open({ maxConnections: 1, connectTimeoutMs: 1000 });
    await full.transaction(async () => {
      expect(await codeOf(full.query('select 1'))).toBe('storage_unavailable');
    });
  });
});

describe('a commit whose response is lost', () => {
  it('rejects with InDoubtCommit, which clients see as storage_unavailable', async () => {
    const proxy = await startCommitDropper(url(), 'after');
    const through = createDatabase({ url: proxy.url, maxConnections: 1 });
    const work = through.transaction((tx) => tx.query(`insert into marks values ('doubt')`));
    const failure = await work.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InDoubtCommit);
    expect(failure).toMatchObject({ code: 'storage_unavailable', status: 503 });
    expect(await db.query(`select * from marks where mark = 'doubt'`)).toHaveLength(1);
    await through.close();
    proxy.close();
  });

  it.each(['before', 'after'] as const)(
    'is settled by its natural key, and happens once if lost %s it took effect',
    async (moment) => {
      const proxy = await startCommitDropper(url(), moment);
      const through = createDatabase({ url: proxy.url, maxConnections: 1 });
      let times = 0;
      const find = (on: Pick<Database, 'query'>) =>
        on.query<{ mark: string }>('select mark from marks where mark = $1', [`settled ${moment}`]);
      const result = await through.transaction(
        async (tx) => {
          times += 1;
          await tx.query('insert into marks values ($1)', [`settled ${moment}`]);
          return `settled ${moment}`;
        },
        { settle: async (fresh) => (await find(fresh))[0]?.mark },
      );
      expect(result).toBe(`settled ${moment}`);
      expect(times).toBe(moment === 'before' ? 2 : 1);
      expect(await find(db)).toHaveLength(1);
      await through.close();
      proxy.close();
    },
  );
});

/**
 * A proxy that cuts the first connection that commits, before or after the COMMIT reaches the
 * server.
 */
async function startCommitDropper(target: string, moment: 'before' | 'after') {
  const { port } = new URL(target);
  const { connect } = await import('node:net');
  let hasDropped = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    let isEating = false;
    near.on('data', (chunk) => {
      if (!hasDropped && chunk.includes('commit')) {
        hasDropped = true;
        isEating = true;
        if (moment === 'before') {
          near.destroy();
          far.destroy();
          return;
        }
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => (isEating ? near.destroy() : near.write(chunk)));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const own = typeof address === 'object' ? String(address?.port) : '';
  return {
    url: Object.assign(new URL(target), { port: own }).href,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const AUTHENTICATED = Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1');
const BACKEND_KEY = Buffer.from('K\0\0\0\x0c', 'latin1');
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

/**
 * A proxy in front of the server: as soon as the login has succeeded, the backend is terminated, and
 * the client gets the success and the end in one piece.
 */
async function endAtOpening(): Promise<{ port: number; close(): void }> {
  const server = createServer((near) => {
    const far = connect(Number(new URL(url()).port), '127.0.0.1');
    near.pipe(far);
    let held = Buffer.alloc(0);
    far.on('data', (chunk: Buffer) => {
      if (held.length === 0 && !chunk.includes(AUTHENTICATED)) return near.write(chunk);
      held = Buffer.concat([held, chunk]);
      if (!chunk.includes(READY)) return;
      const pid = held.readInt32BE(held.indexOf(BACKEND_KEY) + BACKEND_KEY.length);
      return void db.query('select pg_terminate_backend($1, 5000)', [pid]);
    });
    far.on('end', () => near.end(held));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
