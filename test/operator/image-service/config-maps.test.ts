import { expect, it } from 'vitest';
import { validateConfigMaps } from '../../../operator/image-service/config-maps.ts';
import { imageServiceSpec } from '../../../operator/image-service/schema.ts';
import { full, least } from './samples.ts';

type Found = Record<string, Record<string, string>>;

const examine = (found: Found, spec: object = full) =>
  validateConfigMaps(imageServiceSpec.parse(spec), found);
const messages = (found: Found, spec?: object) =>
  examine(found, spec).problems.map(({ reason, message }) => `${reason}: ${message}`);

it('validateConfigMaps reports missing ConfigMaps and keys, and nothing of those that exist', () => {
  expect(messages({ plans: { b: '', a: '' } })).toEqual([
    "ConfigMapKeyMissing: Key 'plans.yaml' of ConfigMap 'plans' (`spec.plansConfigMapRef`) is missing: it has a, b.",
    "ConfigMapNotFound: ConfigMap 'ca' (`spec.caConfigMapRef`) does not exist: create it in this namespace with the key ca.crt.",
  ]);
  expect(messages({ plans: {}, ca: { 'ca.crt': 'A' } })).toEqual([
    "ConfigMapKeyMissing: Key 'plans.yaml' of ConfigMap 'plans' (`spec.plansConfigMapRef`) is missing: it is empty.",
  ]);
  expect(messages({ plans: { 'plans.yaml': 'P' }, ca: { 'ca.crt': 'A' } })).toEqual([]);
  expect(messages({}, least)).toEqual([]);
});

it('the digest of ConfigMaps changes only with the files that are referenced', () => {
  const plans = { 'plans.yaml': 'P' };
  const { digest } = examine({ plans, ca: { 'ca.crt': 'A' } });
  expect(digest).toMatch(/^[0-9a-f]{10}$/);
  expect(examine({ plans, ca: { 'ca.crt': 'A', notes: 'B' } }).digest).toBe(digest);
  expect(examine({ plans, ca: { 'ca.crt': 'B' } }).digest).not.toBe(digest);
  expect(examine({}, least).digest).toBeUndefined();
});
