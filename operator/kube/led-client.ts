/**
 * A client that writes while its process leads, and no more: one that wakes up after another took its place would tell of
 * what it saw before it slept. Rows have a fence of their own in the database.
 */
import type { KubeClient } from './client.ts';

/** The next leader does it: nothing went wrong. */
export class NotLeading extends Error {
  override readonly name = 'NotLeading';

  constructor() {
    super('nothing was written: another may lead by now');
  }
}

/** Its writes reject with NotLeading where it may not. */
export function createLedClient(client: KubeClient, mayWrite: () => boolean): KubeClient {
  const led = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    if (!mayWrite()) throw new NotLeading();
    return write();
  };
  return {
    ...client,
    create: (type, object) => led(() => client.create(type, object)),
    apply: (type, object, as) => led(() => client.apply(type, object, as)),
    applyStatus: (type, object, as) => led(() => client.applyStatus(type, object, as)),
    replace: (type, object) => led(() => client.replace(type, object)),
    merge: (type, place, patch) => led(() => client.merge(type, place, patch)),
    delete: (type, place, options) => led(() => client.delete(type, place, options)),
    within: (deadline_ms) => createLedClient(client.within(deadline_ms), mayWrite),
  };
}
