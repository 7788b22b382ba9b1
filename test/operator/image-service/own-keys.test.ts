import { expect, it } from 'vitest';
import { examineKeys } from '../../../operator/image-service/own-keys.ts';
import { newSealingKey, readSealingKeys } from '../../support/sealing-keys.ts';

const [k1, other, k2] = [newSealingKey(), newSealingKey(), newSealingKey('k2')];
const spec = { keysSecretRef: { name: 'keys' } };

const fault = (theirs: string, own: string) => {
  const found = { keys: { TINTYPE_KEY_ENCRYPTION_KEYS: theirs } };
  const [problem, ...others] = examineKeys(spec, found, readSealingKeys(own));
  expect(others).toEqual([]);
  return problem?.message;
};

it.each([
  ['the same', k1, k1],
  ['a new one that the operator has first', k1, `${k1},${k2}`],
  ['that one, which pods know now', `${k1},${k2}`, `${k1},${k2}`],
  ['that one, which pods seal with now', `${k2},${k1}`, `${k1},${k2}`],
  ['that one, which all seal with', `${k2},${k1}`, `${k2},${k1}`],
  ['what cannot be read, as others say', 'k1:short', k1],
])('examineKeys accepts %s', (_, theirs, own) => {
  expect(fault(theirs, own)).toBeUndefined();
});

it.each([
  ['another key of that name', other, k1, /has another key under 'k1' than the operator/],
  ['a key that only the operator has and seals with', k1, `${k2},${k1}`, /lacks the key 'k2'/],
  ['a key that only pods have and seal with', `${k2},${k1}`, k1, /begins with the key 'k2'.*first/],
  ['another one altogether', k2, k1, /lacks the key 'k1'/],
])('examineKeys rejects %s, without showing any key', (_, theirs, own, words) => {
  const said = fault(theirs, own) ?? '';
  expect(said).toMatch(words);
  expect(said).toMatch(
    /^Key 'TINTYPE_KEY_ENCRYPTION_KEYS' of Secret 'keys' \(`spec.keysSecretRef`\) /,
  );
  for (const key of [k1, other, k2]) expect(said).not.toContain(key.slice(3, 12));
});
