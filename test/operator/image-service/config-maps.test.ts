import { expect, it } from 'vitest';
import { examineConfigMaps } from '../../../operator/image-service/config-maps.ts';
import { imageServiceSpec } from '../../../operator/image-service/schema.ts';
import { full, least } from './samples.ts';

const messages = (found: Record<string, string[]>, spec: object = full) =>
  examineConfigMaps(imageServiceSpec.parse(spec), found).map(
    ({ reason, message }) => `${reason}: ${message}`,
  );

it('says which ConfigMap is missing, which lacks its key, and nothing of those that are there', () => {
  expect(messages({ plans: ['b', 'a'] })).toEqual([
    "ConfigMapKeyMissing: Key 'plans.yaml' of ConfigMap 'plans' (`spec.plansConfigMapRef`) is missing: it has a, b.",
    "ConfigMapNotFound: ConfigMap 'ca' (`spec.caConfigMapRef`) does not exist: create it in this namespace with the key ca.crt.",
  ]);
  expect(messages({ plans: [], ca: ['ca.crt'] })).toEqual([
    "ConfigMapKeyMissing: Key 'plans.yaml' of ConfigMap 'plans' (`spec.plansConfigMapRef`) is missing: it is empty.",
  ]);
  expect(messages({ plans: ['plans.yaml'], ca: ['ca.crt'] })).toEqual([]);
  expect(messages({}, least)).toEqual([]);
});
