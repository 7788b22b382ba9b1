import { describe, expect, it } from 'vitest';
import { imageServiceSpec } from '../../../operator/image-service/schema.ts';
import { type FoundSecrets, validateSecrets } from '../../../operator/image-service/secrets.ts';
import { full, least } from './samples.ts';

const key = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`;

const good = {
  db: { url: 'postgres://tintype:pass-word@db.data:6432/tintype' },
  mq: { url: 'amqps://tintype:pass-word@mq.data' },
  s3: {
    AWS_ACCESS_KEY_ID: 'AKIA',
    AWS_SECRET_ACCESS_KEY: 'very-secret-key',
    TINTYPE_S3_ENDPOINT: 'http://s3.storage:9000',
  },
  keys: {
    TINTYPE_KEY_ENCRYPTION_KEYS: key('k'),
    TINTYPE_TOKEN_KEYS: key('t'),
    TINTYPE_REQUEST_SIGNING_SECRET: 'a-secret-of-the-dashboard',
    TINTYPE_STORAGE_EVENT_SECRET: 'a-secret-of-the-storage',
  },
} satisfies FoundSecrets;

function examine(found: FoundSecrets, spec: object = least) {
  return validateSecrets(imageServiceSpec.parse(spec), found);
}

function messages(found: FoundSecrets, spec: object = least): string[] {
  return examine(found, spec).problems.map(({ reason, message }) => `${reason}: ${message}`);
}

describe('the Secrets of an installation', () => {
  it('are valid if every key exists and is well-formed', () => {
    expect(examine(good)).toMatchObject({
      problems: [],
      endpoints: { database: 6432, amqp: 5671, storage: 9000 },
    });
  });

  it('are reported with the keys to create if one does not exist', () => {
    const { keys: _keys, ...found } = good;
    expect(messages(found)).toEqual([
      "SecretNotFound: Secret 'keys' (`spec.keysSecretRef`) does not exist: create it in this namespace with the keys TINTYPE_KEY_ENCRYPTION_KEYS, TINTYPE_TOKEN_KEYS, TINTYPE_REQUEST_SIGNING_SECRET, TINTYPE_STORAGE_EVENT_SECRET.",
    ]);
  });

  it('are all reported together', () => {
    expect(messages({})).toHaveLength(4);
  });

  it('are reported with the missing key and the existing ones', () => {
    expect(messages({ ...good, db: { uri: good.db.url, host: 'db' } })).toEqual([
      "SecretKeyMissing: Key 'url' (PostgreSQL, version 15 or newer) of Secret 'db' (`spec.databaseSecretRef`) is missing: it has host, uri.",
    ]);
  });

  it('are reported if a key is empty or the Secret is empty', () => {
    const at =
      "Key 'url' (PostgreSQL, version 15 or newer) of Secret 'db' (`spec.databaseSecretRef`)";
    expect(messages({ ...good, db: { url: '' } })).toEqual([
      `SecretInvalid: ${at} is empty: give it its value.`,
    ]);
    expect(messages({ ...good, db: {} })).toEqual([
      `SecretKeyMissing: ${at} is missing: the Secret is empty.`,
    ]);
    expect(messages({ ...good, keys: { ...good.keys, TINTYPE_CDN_TOKEN: '' } })).toEqual([]);
  });

  it('are reported with what a value must be, and never with the value', () => {
    const found = { ...good, mq: { url: 'https://user:hidden-password@mq' } };
    const [message] = messages(found);
    expect(message).toBe(
      "SecretInvalid: Key 'url' of Secret 'mq' (`spec.amqpSecretRef`) must be a URL that begins with amqp:// or amqps://.",
    );
    const short = { ...good, keys: { ...good.keys, TINTYPE_TOKEN_KEYS: 't:c2hvcnQ=' } };
    expect(messages(short).join()).toMatch(/TINTYPE_TOKEN_KEYS.*must be/);
    expect([...messages(found), ...messages(short)].join()).not.toMatch(/hidden|c2hvcnQ/);
  });

  it('are reported if a value is known to everybody', () => {
    const known = {
      TINTYPE_TOKEN_KEYS: `t1:${Buffer.alloc(32).toString('base64')}`,
      TINTYPE_REQUEST_SIGNING_SECRET: 'a-long-random-text-of-the-dashboard',
    };
    expect(messages({ ...good, keys: { ...good.keys, ...known } })).toEqual([
      "SecretInvalid: Key 'TINTYPE_TOKEN_KEYS' of Secret 'keys' (`spec.keysSecretRef`) must be random keys of your own, not an example.",
      "SecretInvalid: Key 'TINTYPE_REQUEST_SIGNING_SECRET' of Secret 'keys' (`spec.keysSecretRef`) must be the secret itself, not an example.",
    ]);
  });

  it('may hold the storage endpoint or leave it to the resource', () => {
    const { TINTYPE_S3_ENDPOINT: _endpoint, ...s3 } = good.s3;
    expect(messages({ ...good, s3 })).toHaveLength(1);
    const storage = { endpoint: 'https://s3.example.com' };
    expect(examine({ ...good, s3 }, { ...least, storage })).toMatchObject({
      problems: [],
      endpoints: { storage: 443 },
    });
  });

  it('may end in a line break, except a secret shared with another party', () => {
    const ending = { ...good, db: { url: `${good.db.url}\n` }, mq: { url: `${good.mq.url}\n` } };
    expect(messages(ending)).toEqual([]);
    const TINTYPE_STORAGE_EVENT_SECRET = `${good.keys.TINTYPE_STORAGE_EVENT_SECRET}\n`;
    expect(messages({ ...good, keys: { ...good.keys, TINTYPE_STORAGE_EVENT_SECRET } })).toEqual([
      "SecretInvalid: Key 'TINTYPE_STORAGE_EVENT_SECRET' of Secret 'keys' (`spec.keysSecretRef`) must be a secret without white space around it.",
    ]);
  });

  it('must hold the token of a CDN that needs one', () => {
    const cdn = { kind: 'Fastly', zone: 'z' };
    expect(messages(good, { ...least, cdn }).join()).toMatch(/TINTYPE_CDN_TOKEN.*missing/);
    expect(messages(good, { ...least, cdn: { kind: 'CloudFront', zone: 'z' } })).toEqual([]);
  });

  it('must hold what extraEnv refers to, and change the digest with it', () => {
    const secretKeyRef = { name: 'payments', key: 'url' };
    const spec = { ...least, extraEnv: [{ name: 'TINTYPE_PROVIDER_B_URL', secretKeyRef }] };
    expect(messages(good, spec)).toEqual([
      "SecretNotFound: Secret 'payments' (`spec.extraEnv`) does not exist: create it in this namespace with the key url.",
    ]);
    expect(messages({ ...good, payments: {} }, spec).join()).toMatch(
      /^SecretKeyMissing: Key 'url' .* of Secret 'payments' \(`spec.extraEnv`\) is missing/,
    );
    expect(messages({ ...good, payments: { url: 'nowhere' } }, spec).join()).toMatch(
      /^SecretInvalid: Key 'url' of Secret 'payments' .* must be/,
    );
    const payments = { url: 'http://payments.svc:8083' };
    const examined = examine({ ...good, payments }, spec);
    expect(examined).toMatchObject({ problems: [], endpoints: { payments: 8083 } });
    const other = examine({ ...good, payments: { url: 'http://payments.svc' } }, spec);
    expect(other.endpoints.payments).toBe(80);
    expect(other.digest).not.toBe(examined.digest);
  });

  it('leave the URL of the payment provider to extraEnv', () => {
    const value = 'https://payments.example:8443';
    const extraEnv = [{ name: 'TINTYPE_PROVIDER_B_URL', value }];
    expect(examine(good, { ...least, extraEnv }).endpoints.payments).toBe(8443);
    expect(examine(good).endpoints.payments).toBeUndefined();
  });

  it('are read by the keys that the resource names', () => {
    const { url } = good.db;
    const found = {
      ...good,
      'main-app': { uri: url },
      mq: { connection_string: good.mq.url, management: 'http://mq:15672' },
      otel: { headers: 'authorization=Bearer x' },
    };
    expect(messages(found, full)).toEqual([]);
  });

  it('have one digest that changes only with the values that are used', () => {
    const { digest } = examine(good);
    expect(examine({ ...good, other: { a: 'b' } }).digest).toBe(digest);
    expect(examine({ ...good, db: { ...good.db, host: 'x' } }).digest).toBe(digest);
    expect(examine({ ...good, db: { url: `${good.db.url}2` } }).digest).not.toBe(digest);
    const asked = { ...least, amqpSecretRef: { name: 'mq', managementKey: 'management' } };
    const of = (management: string) =>
      examine({ ...good, mq: { ...good.mq, management } }, asked).digest;
    // Only KEDA reads it, so pods need not restart.
    expect(of('http://mq:15672')).toBe(of('http://mq:15673'));
    expect(JSON.stringify(examine(good))).not.toMatch(/pass-word|very-secret/);
  });
});
