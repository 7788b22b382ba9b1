import { describe, expect, it } from 'vitest';
import { decideSigningKey } from '../../../operator/signing-key/decide.ts';
import { gone, keyRow, keyRows, nobody, now, released, signingKey } from '../samples.ts';

const rotate = { change: 'rotate', project_id: 'prj_1', rotation_trigger: '2' };

function rowsOf(fields: Parameters<typeof keyRow>[0]) {
  return keyRows({ key: keyRow(fields), owned: keyRow(fields) });
}

describe('a SigningKey', () => {
  it.each([
    { name: 'whose trigger was acted on is left alone', spec: {}, rows: keyRows(), changes: [] },
    {
      name: 'whose trigger changed rotates',
      spec: { rotationTrigger: '2' },
      rows: keyRows(),
      changes: [rotate],
    },
    {
      name: 'that gets its first trigger later than its key rotates',
      spec: { rotationTrigger: '2' },
      rows: rowsOf({ rotation_trigger: null }),
      changes: [rotate],
    },
    {
      name: 'whose trigger was taken away does not rotate',
      spec: { rotationTrigger: undefined },
      rows: keyRows(),
      changes: [],
    },
    {
      name: 'takes the first key of its project over without rotating it',
      spec: {},
      rows: keyRows({ key: keyRow({ ...nobody, rotation_trigger: null }), owned: undefined }),
      changes: [{ change: 'claim', kid: 'kid_1', rotation_trigger: '1' }],
    },
    {
      name: 'adopts a key that somebody rotated to before',
      spec: {},
      rows: keyRows({
        ...{ key: keyRow({ ...nobody, rotation_trigger: null }), owned: undefined },
        has_predecessor: true,
      }),
      changes: [{ change: 'adopt', kid: 'kid_1', rotation_trigger: '1' }],
    },
    {
      name: 'that takes a key over rotates it at once where another trigger was acted on before',
      spec: { rotationTrigger: '2' },
      rows: keyRows({ key: keyRow(released), owned: undefined }),
      changes: [{ change: 'claim', kid: 'kid_1', rotation_trigger: '1' }, rotate],
    },
    {
      name: 'whose key is older than it may be rotates',
      spec: { rotationDays: 19 },
      rows: keyRows(),
      changes: [{ ...rotate, rotation_trigger: '1' }],
    },
    {
      name: 'whose key is young enough does not rotate',
      spec: { rotationDays: 20 },
      rows: keyRows(),
      changes: [],
    },
    {
      name: 'of a project without an active key gets one',
      spec: {},
      rows: keyRows({ key: undefined, owned: undefined }),
      changes: [{ change: 'issue', project_id: 'prj_1', rotation_trigger: '1' }],
    },
    {
      name: 'that points to another project than before touches neither',
      spec: {},
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
