// The limits of an API server for Events, and what people then read in them.
import { expect, it } from 'vitest';
import { createEventRecorder } from '../../../operator/kube/events.ts';
import { systemTimedClock as clock } from '../../../operator/kube/timed-clock.ts';
import { kubeOk } from '../../support/kube-request.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { connectKube } from './connect.ts';
import { silentLog as log } from './silent-log.ts';

const cluster = useControlPlane();

/** Records an Event about a resource, and returns the notes of all Events in its namespace. */
async function toldOf(name: string, note: string): Promise<string[]> {
  const namespace = await cluster.namespace();
  const { client } = connectKube(cluster.plane());
  const events = createEventRecorder({ client, clock, log, instance: 'test' });
  events.record(
    {
      ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'Recipe' },
      metadata: { name, namespace, uid: 'u', resourceVersion: '1' },
    },
    { type: 'Normal', reason: 'DriftHealed', action: 'Heal', note },
  );
  await events.settled();
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { items } = (await kubeOk(cluster.plane(), { path })) as { items: { note: string }[] };
  return items.map((each) => each.note);
}

it.each([
  ['unchanged', 'name: "Foto" → "Bild"', 'name: "Foto" → "Bild"'],
  ['truncated if it is too long', 'a'.repeat(2000), `${'a'.repeat(1021)}…`],
  [
    'truncated by bytes, but not within a character',
    'фото'.repeat(200),
    `${'фото'.repeat(127)}фо…`,
  ],
])('an Event has its note %s', async (_how, note, expected) => {
  expect(await toldOf('shop', note)).toEqual([expected]);
});

it.each([
  ['short', 'shop'],
  ['as long as possible', `${'a'.repeat(199)}-${'b'.repeat(53)}`],
  ['made of many parts', 'abc.'.repeat(63).slice(0, -1)],
])('an Event is recorded for a resource whose name is %s', async (_what, name) => {
  expect(await toldOf(name, 'healed')).toEqual(['healed']);
});
