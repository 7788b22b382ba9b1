import { expect, it } from 'vitest';
import { createLostSecretNames } from '../../../operator/cluster/lost-secret-names.ts';

function project(generation: number, secretNames?: string) {
  const annotations =
    secretNames === undefined ? {} : { 'tintype.dev/callback-secrets': secretNames };
  return {
    metadata: {
      ...{ name: 'shop', namespace: 'team', uid: 'shop', resourceVersion: '1' },
      ...{ generation, annotations },
    },
  };
}

type Project = ReturnType<typeof project>;

function updated(previous: Project, object: Project) {
  return { kind: 'updated' as const, key: 'team/shop', object, previous };
}

it('names of Secrets count as lost if an update removes their annotation, until it is written again', () => {
  const lost = createLostSecretNames();
  lost.handleChange(updated(project(1, 'a'), project(2)));
  expect(lost.of(project(2))).toEqual(['a']);
  lost.handleChange(updated(project(2), project(3, 'b')));
  lost.handleChange(updated(project(3, 'b'), project(4)));
  expect(lost.of(project(4))).toEqual(['a', 'b']);
  lost.handleChange(updated(project(4), project(4, 'a,b,c')));
  expect(lost.of(project(4))).toEqual([]);
});

it('a name removed from the annotation counts as lost only if the generation changed with it', () => {
  const lost = createLostSecretNames();
  lost.handleChange(updated(project(1, 'a,b'), project(1, 'b')));
  expect(lost.of(project(1))).toEqual([]);
  lost.handleChange(updated(project(1, 'b'), project(2, 'old')));
  expect(lost.of(project(2))).toEqual(['b']);
});

it.each(['deleted', 'replaced'] as const)('nothing is kept of a resource that was %s', (kind) => {
  const lost = createLostSecretNames();
  const previous = project(2);
  lost.handleChange(updated(project(1, 'a'), previous));
  const key = 'team/shop';
  lost.handleChange(
    kind === 'deleted'
      ? { kind, key, object: undefined, previous }
      : { kind, key, object: project(1), previous },
  );
  expect(lost.of(previous)).toEqual([]);
});
