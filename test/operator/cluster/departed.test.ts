import { expect, it } from 'vitest';
import { createDeparted } from '../../../operator/cluster/departed.ts';

it('of one name several may have gone before anybody looks, and each is let go of', () => {
  const departed = createDeparted();
  const last = (uid: string) => {
    return { metadata: { name: 'shop', namespace: 'team', uid, resourceVersion: '1' } };
  };
  const uids = () => departed.of('Project', 'team/shop').map(({ metadata }) => metadata.uid);
  departed.add('Project', 'team/shop', last('first'));
  departed.add('Recipe', 'team/shop', last('other'));
  departed.add('Project', 'team/shop', last('second'));
  expect(uids()).toEqual(['first', 'second']);
  departed.drop('Project', 'team/shop', last('first'));
  expect(uids()).toEqual(['second']);
  departed.drop('Project', 'team/shop', last('second'));
  expect(uids()).toEqual([]);
  departed.clear();
  expect(departed.of('Recipe', 'team/shop')).toEqual([]);
});
