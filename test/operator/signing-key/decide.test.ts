import { describe, expect, it } from 'vitest';
import { decideSigningKey } from '../../../operator/signing-key/decide.ts';
import { gone, keyRow, keyRows, nobody, now, released, signingKey } from '../samples.ts';

const rotate = { change: 'rotate', project_id: 'prj_1', rotation_trigger: '2' };

function rowsOf(fields: Parameters<typeof keyRow>[0]) {
  return keyRows({ key: keyRow(fields), owned: keyRow(fields) });
}

describe('a SigningKey', () => {
  it.each([
    {
      name: 'is not changed if it has already rotated for its trigger',
      spec: {},
      rows: keyRows(),
      changes: [],
    },
    {
      name: 'rotates if its trigger changes',
      spec: { rotationTrigger: '2' },
      rows: keyRows(),
      changes: [rotate],
    },
    {
      name: 'rotates if it gets its first trigger after its key',
      spec: { rotationTrigger: '2' },
      rows: rowsOf({ rotation_trigger: null }),
      changes: [rotate],
    },
    {
      name: 'does not rotate if its trigger is removed',
      spec: { rotationTrigger: undefined },
      rows: keyRows(),
      changes: [],
    },
    {
      name: 'takes over the first key of its project without rotating it',
      spec: {},
      rows: keyRows({ key: keyRow({ ...nobody, rotation_trigger: null }), owned: undefined }),
      changes: [{ change: 'claim', kid: 'kid_1', rotation_trigger: '1' }],
    },
    {
      name: 'adopts a key that replaced an earlier one',
      spec: {},
      rows: keyRows({
        ...{ key: keyRow({ ...nobody, rotation_trigger: null }), owned: undefined },
        has_predecessor: true,
      }),
      changes: [{ change: 'adopt', kid: 'kid_1', rotation_trigger: '1' }],
    },
    {
      name: 'rotates a key that it takes over immediately if the key was rotated for another trigger',
      spec: { rotationTrigger: '2' },
      rows: keyRows({ key: keyRow(released), owned: undefined }),
      changes: [{ change: 'claim', kid: 'kid_1', rotation_trigger: '1' }, rotate],
    },
    {
      name: 'rotates if its key has reached its maximum age',
      spec: { rotationDays: 19 },
      rows: keyRows(),
      changes: [{ ...rotate, rotation_trigger: '1' }],
    },
    {
      name: 'does not rotate if its key is younger than its maximum age',
      spec: { rotationDays: 20 },
      rows: keyRows(),
      changes: [],
    },
    {
      name: 'gets a key if its project has no active one',
      spec: {},
      rows: keyRows({ key: undefined, owned: undefined }),
      changes: [{ change: 'issue', project_id: 'prj_1', rotation_trigger: '1' }],
    },
    {
      name: 'changes neither project if it points to another one than before',
      spec: { rotationTrigger: '2' },
      rows: keyRows({ owned: keyRow({ project_id: 'prj_2' }) }),
      changes: [],
    },
  ])('$name', ({ spec, rows, changes }) => {
    expect(decideSigningKey(signingKey(spec), rows, now).changes).toEqual(changes);
  });

  it('that is deleted releases its key, and the key stays', () => {
    const decision = decideSigningKey(gone('SigningKey'), keyRows(), now);
    expect(decision.changes).toEqual([{ change: 'release', kid: 'kid_1', rotation_trigger: '1' }]);
  });

  it('that never managed a key changes nothing when it is deleted', () => {
    const rows = { ...rowsOf({}), owned: undefined };
    expect(decideSigningKey(gone('SigningKey'), rows, now).changes).toEqual([]);
  });
});
