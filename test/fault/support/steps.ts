/**
 * Names every call to database and storage in its order, from the running code. These are the places where work can be
 * interrupted; a new call adds a step automatically.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Database, Queryable } from '../../../runtime/db/client.ts';
import type { Failpoint } from '../../../runtime/platform/failpoint.ts';
import type { Bucket, Buckets } from '../../../runtime/platform/storage/bucket.ts';

/**
 * `during commit 1` is while the first commit is in progress; `after content.write 2` is after the
 * second write has succeeded.
 */
export type Step = string;

/** Called at each step. The work continues when the promise resolves. */
export type OnStep = (step: Step) => void | Promise<void>;

export type Watched = { db: Database; buckets: Buckets; failpoint: Failpoint };

/** Wraps database and buckets, and adds a failpoint, to report every step of some work. */
export function watchSteps(
  { db, buckets }: { db: Database; buckets: Buckets },
  onStep: OnStep,
): Watched {
  const counts = new Map<string, number>();
  const tell: Tell = (moment, call) => {
    const key = `${moment} ${call}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return onStep(`${key} ${count}`);
  };
  return {
    db: watchDatabase(db, tell),
    buckets: {
      ingest: watchBucket('ingest', buckets.ingest, tell),
      content: watchBucket('content', buckets.content, tell),
    },
    failpoint: (name) => tell('after', name),
  };
}

/**
 * False for reads and for calls that a rollback undoes, which can be interrupted without effect.
 */
export function isLasting(step: Step): boolean {
  return !/^\S+ (select|tx |ingest\.(head|open|read|list)|content\.(head|open|read|list))/.test(
    step,
  );
}

type Tell = (moment: 'during' | 'after', call: string) => void | Promise<void>;

function watchDatabase(db: Database, tell: Tell): Database {
  return {
    ...watchQueries(db, tell, ''),
    transaction: async (work, settings) => {
      const result = await db.transaction(async (tx) => {
        const made = await work(watchQueries(tx, tell, 'tx '));
        setImmediate(() => void tell('during', 'commit'));
        return made;
      }, settings);
      await tell('after', 'commit');
      return result;
    },
    close: () => db.close(),
  };
}

function watchQueries(queries: Queryable, tell: Tell, where: string): Queryable {
  return {
    query: (text, values) =>
      watched(tell, `${where}${nameOf(text)}`, () => queries.query(text, values)),
  };
}

const CHANGE = /\b(insert into|delete from) (\w+)|\bupdate (\w+) set\b/;

/** Returns a name such as `update uploads`, or `select` for statements without changes. */
export function nameOf(text: string): string {
  const [, verb, table, updated] = CHANGE.exec(text.replaceAll(/\s+/g, ' ')) ?? [];
  if (updated !== undefined) return `update ${updated}`;
  return verb === undefined ? 'select' : `${verb} ${table}`;
}

function watchBucket(name: string, bucket: Bucket, tell: Tell): Bucket {
  return new Proxy(bucket, {
    get: (target, method) => {
      const call: unknown = Reflect.get(target, method);
      if (typeof call !== 'function') return call;
      return (...words: unknown[]) =>
        watched(tell, `${name}.${String(method)}`, async () => Reflect.apply(call, target, words));
    },
  });
}

async function watched<T>(tell: Tell, call: string, work: () => Promise<T>): Promise<T> {
  const running = work();
  running.catch(() => undefined);
  await turn();
  await tell('during', call);
  const result = await running;
  await tell('after', call);
  return result;
}
