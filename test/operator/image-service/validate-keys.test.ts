import { expect, it } from 'vitest';
import { validateKeys } from '../../../operator/image-service/validate-keys.ts';
import { newSealingKey, readSealingKeys } from '../../support/sealing-keys.ts';

const [k1, other, k2] = [newSealingKey(), newSealingKey(), newSealingKey('k2')];
const spec = { keysSecretRef: { name: 'keys' } };

const fault = (theirs: string, own: string) => {
  const found = { keys: { TINTYPE_KEY_ENCRYPTION_KEYS: theirs } };
  const [problem, ...others] = validateKeys(spec, found, readSealingKeys(own));
  expect(others).toEqual([]);
  return problem?.message;
};

it.each([
  ['the same key', k1, k1],
  ['a new key that only the operator has so far', k1, `${k1},${k2}`],
  ['a new key that the pods know by now', `${k1},${k2}`, `${k1},${k2}`],
  ['a new key that the pods already seal with', `${k2},${k1}`, `${k1},${k2}`],
  ['a new key that all seal with', `${k2},${k1}`, `${k2},${k1}`],
  ['an unreadable value, which other checks report', 'k1:short', k1],
])('validateKeys accepts %s', (_, theirs, own) => {
  expect(fault(theirs, own)).toBeUndefined();
});

it.each([
  ['another key with the same name', other, k1, /has another key under 'k1' than the operator/],
  ['a key that only the operator has and seals with', k1, `${k2},${k1}`, /lacks the key 'k2'/],
  ['a key that only pods have and seal with', `${k2},${k1}`, k1, /begins with the key 'k2'.*first/],
  ['a key with another name', k2, k1, /lacks the key 'k1'/],
])('validateKeys rejects %s, without showing any key', (_, theirs, own, words) => {
  const said = fault(theirs, own) ?? '';
  expect(said).toMatch(words);
  expect(said).toMatch(
    /^Key 'TINTYPE_KEY_ENCRYPTION_KEYS' of Secret 'keys' \(`spec.keysSecretRef`\) /,
  );
  for (const key of [k1, other, k2]) expect(said).not.toContain(key.slice(3, 12));
});
