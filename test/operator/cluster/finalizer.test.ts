// Spec: Project.
import { describe, expect, it } from 'vitest';
import { writeFinalizer } from '../../../operator/cluster/finalizer.ts';
import type { ObjectContext } from '../../../operator/cluster/reconcile-rows.ts';
import { FINALIZER, type TenantObject } from '../../../operator/cluster/tenant-object.ts';

const theirs = 'example.com/backup';

/** The bodies that are written for an object with these finalizers. */
async function written(wanted: 'present' | 'absent', ...finalizers: string[]) {
  const bodies: unknown[] = [];
  const metadata = { name: 'shop', namespace: 'team', uid: 'u', resourceVersion: '7', finalizers };
  const object: TenantObject = { metadata };
  const merge = async (_type: unknown, _place: unknown, { body }: { body: unknown }) => {
    bodies.push(body);
    return { ok: true, value: object };
  };
  const context = { client: { merge } } as unknown as ObjectContext;
  await writeFinalizer('Project', { object, wanted }, context);
  return bodies;
}

/** A write that fails if somebody changed the object since it was read. */
function onlyOnce(...finalizers: string[]) {
  return [{ metadata: { resourceVersion: '7', finalizers } }];
}

describe('the finalizer of a resource', () => {
  it('is removed without touching the finalizers of others', async () => {
    expect(await written('absent', theirs, FINALIZER)).toEqual(onlyOnce(theirs));
    expect(await written('absent', FINALIZER)).toEqual(onlyOnce());
  });

  it('is added beside the finalizers of others', async () => {
    expect(await written('present', theirs)).toEqual(onlyOnce(theirs, FINALIZER));
  });

  it('is not written if it is already as wanted', async () => {
    expect(await written('absent', theirs)).toEqual([]);
    expect(await written('present', FINALIZER, theirs)).toEqual([]);
  });
});
