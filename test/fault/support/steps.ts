/**
 * Every call that a piece of work makes to the database and the storage, by name and in order: the places where it can
 * be cut short are enumerated from the running code, so a new call automatically adds a step.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Database, Queryable } from '../../../runtime/db/client.ts';
import type { Failpoint } from '../../../runtime/platform/failpoint.ts';
import type { Bucket, Buckets } from '../../../runtime/platform/storage/bucket.ts';

/**
 * `during commit 1`: the first commit is under way; `after content.write 2`: the second write was
 * answered.
 */
export type Step = string;

/** Called with each step in turn; the work continues when it resolves. */
export type OnStep = (step: Step) => void | Promise<void>;

export type Watched = { db: Database; buckets: Buckets; failpoint: Failpoint };

/** The same database and buckets, with a failpoint, that report every step of one piece of work. */
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

/** Reads, and calls that are rolled back by themselves, can be cut short without a trace. */
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

/** Such as `update uploads`; `select` for a statement that changes nothing. */
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
