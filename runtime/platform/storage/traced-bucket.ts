/** A bucket with a span around every call that reaches its store. */
import { isTraced, traced } from '../tracing/spans.ts';
import type { Bucket } from './bucket.ts';

export function tracedBucket(bucket: Bucket, name: string): Bucket {
  const call = <T>(operation: string, key: string, work: () => Promise<T>): Promise<T> => {
    if (!isTraced()) return work();
    const attributes = { 'tintype.bucket': name, 'tintype.object_key': key };
    return traced(`storage ${operation}`, { kind: 'client', attributes }, work);
  };
  return {
    head: (key) => call('head', key, () => bucket.head(key)),
    open: (key, range) => call('open', key, () => bucket.open(key, range)),
    read: (key, place) => call('read', key, () => bucket.read(key, place)),
    write: (key, body, facts) => call('write', key, () => bucket.write(key, body, facts)),
    delete: (key) => call('delete', key, () => bucket.delete(key)),
    list: (range) => call('list', range.prefix, () => bucket.list(range)),
    presignPut: (key, terms) => bucket.presignPut(key, terms),
    createMultipart: (key, facts) =>
      call('create multipart', key, () => bucket.createMultipart(key, facts)),
    presignPart: (key, part) => bucket.presignPart(key, part),
    completeMultipart: (key, list) =>
      call('complete multipart', key, () => bucket.completeMultipart(key, list)),
    abortMultipart: (key, id) => call('abort multipart', key, () => bucket.abortMultipart(key, id)),
    listMultiparts: (range) =>
      call('list multiparts', range.prefix, () => bucket.listMultiparts(range)),
    check: () => call('check', '', () => bucket.check()),
  };
}
