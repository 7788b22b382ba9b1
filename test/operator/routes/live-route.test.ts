// Spec: Project (custom_domains).
import { describe, expect, it } from 'vitest';
import { admissionOf } from '../../../operator/routes/live-route.ts';

const metadata = { name: 'main-project-shop', namespace: 'images', uid: 'u', resourceVersion: '1' };

type Said = { type: string; status: string; reason?: string; message?: string };

function httpRoute(...parents: Said[][]) {
  const status = { parents: parents.map((conditions) => ({ conditions })) };
  return { mode: 'Gateway' as const, object: { metadata, status } };
}

const accepted = { type: 'Accepted', status: 'True' };
const resolved = { type: 'ResolvedRefs', status: 'True' };
const unresolved = {
  ...{ type: 'ResolvedRefs', status: 'False', reason: 'BackendNotFound' },
  message: 'no Service main-delivery',
};

describe('an HTTPRoute', () => {
  it('is admitted once its Gateway accepted it', () => {
    expect(admissionOf(httpRoute([accepted, resolved]))).toEqual({ state: 'admitted' });
    expect(admissionOf(httpRoute([accepted]))).toEqual({ state: 'admitted' });
  });

  it('waits while no Gateway says anything', () => {
    expect(admissionOf(httpRoute())).toEqual({ state: 'waiting' });
    expect(admissionOf(httpRoute([{ type: 'Accepted', status: 'Unknown' }]))).toEqual({
      state: 'waiting',
    });
  });

  it('that is accepted but whose backends cannot be resolved is refused, in the words of the Gateway', () => {
    const refused = { state: 'refused', why: 'BackendNotFound: no Service main-delivery' };
    expect(admissionOf(httpRoute([accepted, unresolved]))).toEqual(refused);
    expect(admissionOf(httpRoute([accepted, resolved], [accepted, unresolved]))).toEqual(refused);
  });

  it('is not refused by what else a Gateway says of it', () => {
    const partial = { type: 'PartiallyInvalid', status: 'False' };
    expect(admissionOf(httpRoute([accepted, partial]))).toEqual({ state: 'admitted' });
  });
});
