import { expect, it } from 'vitest';
import { createDeletedResources } from '../../../operator/cluster/deleted-resources.ts';

it('several deleted resources of one name are kept until each is dropped', () => {
  const deleted = createDeletedResources();
  const last = (uid: string) => {
    return { metadata: { name: 'shop', namespace: 'team', uid, resourceVersion: '1' } };
  };
  const uids = () => deleted.of('Project', 'team/shop').map(({ metadata }) => metadata.uid);
  deleted.add('Project', 'team/shop', last('first'));
  deleted.add('Recipe', 'team/shop', last('other'));
  deleted.add('Project', 'team/shop', last('second'));
  expect(uids()).toEqual(['first', 'second']);
  deleted.drop('Project', 'team/shop', last('first'));
  expect(uids()).toEqual(['second']);
  deleted.drop('Project', 'team/shop', last('second'));
  expect(uids()).toEqual([]);
  deleted.clear();
  expect(deleted.of('Recipe', 'team/shop')).toEqual([]);
});
