// Spec: Project (custom_domains).
import { describe, expect, it } from 'vitest';
import { admissionOf } from '../../../operator/routes/live-route.ts';

const metadata = { name: 'main-project-shop', namespace: 'images', uid: 'u', resourceVersion: '1' };

type Said = { type: string; status: string; reason?: string; message?: string };

const edge = { name: 'edge' };
const https = { ...edge, sectionName: 'https' };

/** A route with these reports of its parents. */
function routeOf(...parents: { parentRef: { name: string }; conditions: Said[] }[]) {
  return { mode: 'Gateway' as const, object: { metadata, status: { parents } } };
}

function httpRoute(...parents: Said[][]) {
  return routeOf(...parents.map((conditions) => ({ parentRef: edge, conditions })));
}

const accepted = { type: 'Accepted', status: 'True' };
const resolved = { type: 'ResolvedRefs', status: 'True' };
const unresolved = {
  ...{ type: 'ResolvedRefs', status: 'False', reason: 'BackendNotFound' },
  message: 'no Service main-delivery',
};

describe('an HTTPRoute', () => {
  it('is admitted once its Gateway has accepted it', () => {
    expect(admissionOf(httpRoute([accepted, resolved]), edge)).toEqual({ state: 'admitted' });
    expect(admissionOf(httpRoute([accepted]), edge)).toEqual({ state: 'admitted' });
  });

  it('waits while no Gateway has decided', () => {
    expect(admissionOf(httpRoute(), edge)).toEqual({ state: 'waiting' });
    expect(admissionOf(httpRoute([{ type: 'Accepted', status: 'Unknown' }]), edge)).toEqual({
      state: 'waiting',
    });
  });

  it('that is accepted with unresolved backends is refused, with the message of the Gateway', () => {
    const refused = { state: 'refused', why: 'BackendNotFound: no Service main-delivery' };
    expect(admissionOf(httpRoute([accepted, unresolved]), edge)).toEqual(refused);
    const pending = { type: 'Accepted', status: 'Unknown' };
    expect(admissionOf(httpRoute([pending], [accepted, unresolved]), edge)).toEqual(refused);
  });

  it('is admitted by the current controller of its Gateway, despite what a previous one left', () => {
    const left = [{ type: 'Accepted', status: 'False', reason: 'NoMatchingParent' }];
    const now = [accepted, resolved];
    expect(admissionOf(httpRoute(left, now), edge)).toEqual({ state: 'admitted' });
    expect(admissionOf(httpRoute(now, left), edge)).toEqual({ state: 'admitted' });
  });

  it.each([
    ['with the same name', edge, edge, 'admitted'],
    ['in the namespace of the route', edge, { ...edge, namespace: 'images' }, 'admitted'],
    ['named without its namespace', { ...edge, namespace: 'images' }, edge, 'admitted'],
    ['in another namespace', edge, { ...edge, namespace: 'infra' }, 'waiting'],
    ['declared in another namespace', { ...edge, namespace: 'infra' }, edge, 'waiting'],
    ['with another name', edge, { name: 'other' }, 'waiting'],
    ['that is a Service of a mesh', edge, { ...edge, group: '', kind: 'Service' }, 'waiting'],
    ['in another group', edge, { ...edge, group: 'networking.istio.io' }, 'waiting'],
    ['through the declared listener', https, https, 'admitted'],
    ['through another listener', https, { ...edge, sectionName: 'http' }, 'waiting'],
    ['through no particular listener', https, edge, 'waiting'],
    ['through a listener if none is declared', edge, https, 'admitted'],
  ] as const)(
    'is admitted only by the declared parent: accepted by a Gateway %s',
    (_, declared, parentRef, state) => {
      expect(admissionOf(routeOf({ parentRef, conditions: [accepted] }), declared)).toEqual({
        state,
      });
    },
  );

  it('is admitted by its own Gateway, whatever another one says', () => {
    const refusing = { parentRef: { name: 'other' }, conditions: [unresolved] };
    const route = routeOf(refusing, { parentRef: edge, conditions: [accepted] });
    expect(admissionOf(route, edge)).toEqual({ state: 'admitted' });
  });

  it('is not refused because of other conditions of its Gateway', () => {
    const partial = { type: 'PartiallyInvalid', status: 'False' };
    expect(admissionOf(httpRoute([accepted, partial]), edge)).toEqual({ state: 'admitted' });
  });
});
