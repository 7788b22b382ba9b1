// Values that are valid one by one but not together: the operator reports them before a pod rejects them.
import { describe, expect, it } from 'vitest';
import { validateEnvironment } from '../../../operator/image-service/pod-environment.ts';
import { imageServiceSpec } from '../../../operator/image-service/schema.ts';
import { type FoundSecrets, validateSecrets } from '../../../operator/image-service/secrets.ts';
import { full, least } from './samples.ts';

const key = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`;
const keys = {
  TINTYPE_KEY_ENCRYPTION_KEYS: key('k'),
  TINTYPE_TOKEN_KEYS: key('t'),
  TINTYPE_REQUEST_SIGNING_SECRET: 'a-secret-of-the-dashboard',
  TINTYPE_STORAGE_EVENT_SECRET: 'a-secret-of-the-storage',
};
const s3 = {
  AWS_ACCESS_KEY_ID: 'AKIA',
  AWS_SECRET_ACCESS_KEY: 'very-secret-key',
  TINTYPE_S3_ENDPOINT: 'http://s3.storage:9000',
};
const good = {
  db: { url: 'postgres://tintype:pass-word@db.data/tintype' },
  mq: { url: 'amqps://tintype:pass-word@mq.data' },
  ...{ s3, keys },
} satisfies FoundSecrets;

const examine = (found: FoundSecrets, fields: object = {}) => {
  const spec = imageServiceSpec.parse({ ...least, ...fields });
  // Each value is valid on its own.
  expect(validateSecrets(spec, found).problems).toEqual([]);
  return validateEnvironment(spec, found).map(({ reason, message }) => `${reason}: ${message}`);
};

describe('the Secrets and fields of an installation taken together', () => {
  it('are valid if they are consistent', () => {
    expect(examine(good)).toEqual([]);
    const named = imageServiceSpec.parse(full);
    expect(validateEnvironment(named, good)).toEqual([]);
  });

  it.each([
    [
      'both from the Secret',
      { TINTYPE_INGEST_BUCKET: 'pictures', TINTYPE_CONTENT_BUCKET: 'pictures\n' },
      {},
    ],
    ['the default of the other', { TINTYPE_INGEST_BUCKET: 'tintype-content' }, {}],
    ['the one from the resource', { TINTYPE_CONTENT_BUCKET: 'mine' }, { ingestBucket: 'mine' }],
  ])('must not name one bucket for uploads and content: %s', (_, named, storage) => {
    const found = { ...good, s3: { ...s3, ...named } };
    expect(examine(found, { storage })).toEqual([
      expect.stringContaining(
        'SecretInvalid: No process accepts what Secrets and fields say together: TINTYPE_CONTENT_BUCKET: expected another bucket than TINTYPE_INGEST_BUCKET',
      ),
    ]);
    const two = { ...storage, ingestBucket: 'one', contentBucket: 'two' };
    expect(examine(found, { storage: two })).toEqual([]);
  });

  it('must not give one secret to two callers, and the message shows no value', () => {
    const one = keys.TINTYPE_REQUEST_SIGNING_SECRET;
    const found = { ...good, keys: { ...keys, TINTYPE_STORAGE_EVENT_SECRET: one } };
    const reported = examine(found);
    expect(reported).toEqual([
      expect.stringContaining('TINTYPE_STORAGE_EVENT_SECRET: expected a secret that differs'),
    ]);
    expect(reported.join()).not.toContain(one);
  });

  it('must not sign tokens with a key that encrypts', () => {
    const TINTYPE_TOKEN_KEYS = keys.TINTYPE_KEY_ENCRYPTION_KEYS;
    expect(examine({ ...good, keys: { ...keys, TINTYPE_TOKEN_KEYS } })).toEqual([
      expect.stringContaining('TINTYPE_TOKEN_KEYS: expected other keys than'),
    ]);
  });
});
