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

/**
 * Wraps database and buckets, and adds a failpoint, to report every step of some work. `onCall` is
 * called right before each call, with the name of the step during it.
 */
export function watchSteps(
  { db, buckets }: { db: Database; buckets: Buckets },
  onStep: OnStep,
  onCall: OnStep = () => undefined,
): Watched {
  const counts = new Map<string, number>();
  const number = (key: string): Step => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return `${key} ${count}`;
  };
  const eyes: Eyes = {
    begin: async (call) => {
      const step = number(`during ${call}`);
      await onCall(step);
      return () => onStep(step);
    },
    tellAfter: (call) => onStep(number(`after ${call}`)),
  };
  return {
    db: watchDatabase(db, eyes),
    buckets: {
      ingest: watchBucket('ingest', buckets.ingest, eyes),
      content: watchBucket('content', buckets.content, eyes),
    },
    failpoint: eyes.tellAfter,
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

type Eyes = {
  /** Called before a call is made; returns what tells that it is in progress. */
  begin(call: string): Promise<() => void | Promise<void>>;
  tellAfter(call: string): void | Promise<void>;
};

function watchDatabase(db: Database, eyes: Eyes): Database {
  return {
    ...watchQueries(db, eyes, ''),
    transaction: async (work, settings) => {
      const result = await db.transaction(async (tx) => {
        const made = await work(watchQueries(tx, eyes, 'tx '));
        const tellDuring = await eyes.begin('commit');
        setImmediate(() => void tellDuring());
        return made;
      }, settings);
      await eyes.tellAfter('commit');
      return result;
    },
    check: () => db.check(),
    close: () => db.close(),
  };
}

function watchQueries(queries: Queryable, eyes: Eyes, where: string): Queryable {
  return {
    query: (text, values) =>
      watched(eyes, `${where}${nameOf(text)}`, () => queries.query(text, values)),
  };
}

const CHANGE = /\b(insert into|delete from) (\w+)|\bupdate (\w+) set\b/;

/** Returns a name such as `update uploads`, or `select` for statements without changes. */
export function nameOf(text: string): string {
  const [, verb, table, updated] = CHANGE.exec(text.replaceAll(/\s+/g, ' ')) ?? [];
  if (updated !== undefined) return `update ${updated}`;
  return verb === undefined ? 'select' : `${verb} ${table}`;
}

function watchBucket(name: string, bucket: Bucket, eyes: Eyes): Bucket {
  return new Proxy(bucket, {
    get: (target, method) => {
      const call: unknown = Reflect.get(target, method);
      if (typeof call !== 'function') return call;
      return (...words: unknown[]) =>
        watched(eyes, `${name}.${String(method)}`, async () => Reflect.apply(call, target, words));
    },
  });
}

async function watched<T>(eyes: Eyes, call: string, work: () => Promise<T>): Promise<T> {
  const tellDuring = await eyes.begin(call);
  const running = work();
  running.catch(() => undefined);
  await turn();
  await tellDuring();
  const result = await running;
  await eyes.tellAfter(call);
  return result;
}
