/**
 * A client that writes only while its process leads: a process that was frozen until another took over would otherwise
 * report what it saw before. Rows have a fence of their own in the database.
 */
import type { KubeClient } from './client.ts';

/** The next leader does the write: nothing went wrong. */
export class NotLeading extends Error {
  override readonly name = 'NotLeading';

  constructor() {
    super('nothing was written: another may lead by now');
  }
}

/** Writes reject with NotLeading when `mayWrite` returns false. */
export function createLeaderClient(client: KubeClient, mayWrite: () => boolean): KubeClient {
  const whileLeading = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    if (!mayWrite()) throw new NotLeading();
    return write();
  };
  return {
    ...client,
    create: (type, object) => whileLeading(() => client.create(type, object)),
    apply: (type, object, as) => whileLeading(() => client.apply(type, object, as)),
    applyStatus: (type, object, as) => whileLeading(() => client.applyStatus(type, object, as)),
    replace: (type, object) => whileLeading(() => client.replace(type, object)),
    merge: (type, place, patch) => whileLeading(() => client.merge(type, place, patch)),
    delete: (type, place, options) => whileLeading(() => client.delete(type, place, options)),
    within: (deadline_ms) => createLeaderClient(client.within(deadline_ms), mayWrite),
  };
}
