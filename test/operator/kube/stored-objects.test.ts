import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../operator/kube/resource.ts';
import { createStoredObjects } from '../../../operator/kube/stored-objects.ts';

const object = (name: string, version: number, uid = 'one'): KubeObject => ({
  metadata: { name, namespace: 'shop', uid, resourceVersion: String(version) },
});

describe('the stored objects of a watch cache', () => {
  it('tell a new object of the same name from an update of the old one', () => {
    const stored = createStoredObjects();
    expect(stored.put(object('a', 1))?.kind).toBe('added');
    expect(stored.put(object('a', 2))?.kind).toBe('updated');
    expect(stored.put(object('a', 3, 'two'))).toMatchObject({
      kind: 'replaced',
      previous: { metadata: { uid: 'one' } },
    });
    expect(stored.replaceAll([object('a', 9, 'three')])).toMatchObject([{ kind: 'replaced' }]);
  });

  it('compare versions as numbers of any length', () => {
    const stored = createStoredObjects();
    stored.put(object('a', 9));
    expect(stored.put(object('a', 10))?.kind).toBe('updated');
    expect(stored.put(object('a', 9))).toBeUndefined();
  });

  it('do not bring back a deleted object when an older state of it arrives', () => {
    const stored = createStoredObjects();
    stored.put(object('a', 1));
    expect(stored.remove(object('a', 3))?.kind).toBe('deleted');
    expect(stored.put(object('a', 2))).toBeUndefined();
    expect(stored.put(object('a', 4, 'two'))?.kind).toBe('added');
    expect(stored.remove(object('a', 3))).toBeUndefined();
    expect(stored.size()).toBe(1);
  });

  it('report only the differences when a list replaces them', () => {
    const stored = createStoredObjects();
    stored.put(object('a', 1));
    stored.put(object('b', 2));
    const changes = stored.replaceAll([object('a', 1), object('c', 3)]);
    expect(changes.map(({ kind, key }) => [kind, key])).toEqual([
      ['deleted', 'shop/b'],
      ['added', 'shop/c'],
    ]);
  });

  it('end in the true state whatever the order and number of the events', () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.nat()), (steps, chance) => {
        const events = steps.map((step, index) => ({ ...step, version: index + 1 }));
        const stored = createStoredObjects();
        for (const { name, isDeletion, version } of shuffled([...events, ...events], chance)) {
          const seen = object(name, version);
          if (isDeletion) stored.remove(seen);
          else stored.put(seen);
        }
        const truth = new Map(events.map((event) => [event.name, event]));
        const expected = [...truth.values()].filter(({ isDeletion }) => !isDeletion);
        const found = [...stored.values()].map(({ metadata }) => metadata.resourceVersion);
        expect(found.sort()).toEqual(expected.map(({ version }) => String(version)).sort());
      }),
    );
  });
});

const history = fc.array(
  fc.record({ name: fc.constantFrom('a', 'b', 'c'), isDeletion: fc.boolean() }),
  { maxLength: 30 },
);

function shuffled<T>(items: readonly T[], chance: fc.Stream<number>): T[] {
  return items
    .map((item) => ({ item, place: chance.next().value ?? 0 }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
