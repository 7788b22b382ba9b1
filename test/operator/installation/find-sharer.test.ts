// Spec: Project.
import { describe, expect, it } from 'vitest';
import { findSharer } from '../../../operator/installation/find-sharer.ts';
import type { ImageServiceObject } from '../../../operator/installation/live-types.ts';
import type { KubeClient } from '../../../operator/kube/client.ts';

type ServiceStatus = {
  databaseID?: string;
  deletionTimestamp?: string;
  annotations?: Record<string, string>;
  said?: Record<string, string>;
};

function service(
  name: string,
  day: number,
  { databaseID, said = {}, ...overrides }: ServiceStatus = {},
): ImageServiceObject {
  const creationTimestamp = `2026-01-0${day}T00:00:00Z`;
  const named = { name, namespace: 'images', uid: name, resourceVersion: '1' };
  return {
    metadata: { ...named, creationTimestamp, ...overrides },
    status: { ...(databaseID !== undefined && { databaseID }), conditions: conditionsOf(said) },
  };
}

function conditionsOf(said: Record<string, string>) {
  const status = 'type' in said ? 'True' : 'False';
  const head = { type: 'Ready', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  return [{ ...head, status, ...said }] as never;
}

function sharerOf(asking: ImageServiceObject, ...others: ImageServiceObject[]) {
  const listPage = async () => ({ ok: true, value: { items: [...others, asking] } });
  const client = { listPage } as unknown as KubeClient;
  return findSharer(asking, { client, namespaces: ['images'], database_id: 'db-1' });
}

const letIn = { databaseID: 'db-1' };
const going = { deletionTimestamp: '2026-01-09T00:00:00Z' };

describe('an ImageService that shares its database with others', () => {
  it('waits for the one that already has the database, and otherwise for the oldest', async () => {
    expect(await sharerOf(service('b', 2), service('c', 3, letIn))).toBe('images/c');
    expect(await sharerOf(service('b', 2), service('a', 1))).toBe('images/a');
    expect(await sharerOf(service('b', 2), service('c', 3))).toBeUndefined();
  });

  it.each([
    { reason: 'SecretNotFound' },
    { reason: 'SecretKeyMissing' },
    { reason: 'SecretInvalid' },
    { reason: 'SpecInvalid' },
    { reason: 'DatabaseMismatch' },
    { type: 'Paused', reason: 'Paused' },
  ])('does not wait for an older one that cannot start: %o', async (said) => {
    expect(await sharerOf(service('b', 2), service('a', 1, { said }))).toBeUndefined();
    const waiting = { said: { reason: 'DatabaseUnavailable' } };
    expect(await sharerOf(service('b', 2), service('a', 1, waiting))).toBe('images/a');
  });

  it('does not wait for one that is plan-only', async () => {
    const planning = service('a', 1, { annotations: { 'tintype.dev/plan-only': 'true' } });
    expect(await sharerOf(service('b', 2), planning)).toBeUndefined();
  });

  it('does not wait for one that is being deleted', async () => {
    expect(await sharerOf(service('b', 2), service('a', 1, going))).toBeUndefined();
    const last = service('a', 1, { ...letIn, ...going });
    expect(await sharerOf(service('b', 2), last)).toBeUndefined();
    expect(await sharerOf(service('c', 3), last, service('b', 2))).toBe('images/b');
  });
});
