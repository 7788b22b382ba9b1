import { expect, it } from 'vitest';
import { createDeparted } from '../../../operator/cluster/departed.ts';

it('several departed resources of one name are kept until each is dropped', () => {
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
