// Local commands use the same keys and services as the running Tintype, from the environment or from its data folder.
import { expect, it } from 'vitest';
import { parseConfig } from '../../../runtime/platform/config.ts';
import { describeInstance } from '../../../runtime/standalone/describe-instance.ts';
import {
  standaloneConfig,
  standaloneEnvironment,
} from '../../../runtime/standalone/environment.ts';

const keys = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
const secrets = {
  request_signing_secret: 'a'.repeat(64),
  storage_event_secret: 'b'.repeat(64),
  storage_url_secret: 'c'.repeat(64),
  provider_a_secret: 'd'.repeat(64),
  provider_b_secret: 'e'.repeat(64),
  key_encryption_keys: keys('k1', 1),
  token_keys: keys('t1', 2),
  api_keys: {},
  api_key: null,
};

function instanceOf(given: Record<string, string>) {
  const environment = standaloneEnvironment(given, {
    secrets,
    ports: { api: { port: 8080 }, delivery: { port: 8081 } },
    databaseUrl: 'postgres://tintype@127.0.0.1/tintype',
    spoolFolder: '/tmp/spool',
  });
  const made = { organization_id: 'org_1', project_slug: 'demo', api_key: 'key' };
  return describeInstance({ given, environment, config: standaloneConfig(environment) }, made);
}

it('the instance has the keys that the environment names, or else those of the data folder', () => {
  const { key_encryption_keys, token_keys } = secrets;
  expect(instanceOf({})).toMatchObject({ key_encryption_keys, token_keys, environment: {} });
  const named = { key_encryption_keys: keys('k2', 3), token_keys: keys('t2', 4) };
  const given = {
    TINTYPE_KEY_ENCRYPTION_KEYS: named.key_encryption_keys,
    TINTYPE_TOKEN_KEYS: named.token_keys,
  };
  expect(instanceOf(given)).toMatchObject({ ...named, environment: {} });
});

it('the instance records the environment of the services it reaches, and nothing else', () => {
  const given = {
    TINTYPE_AMQP_URL: 'amqp://localhost',
    TINTYPE_S3_ENDPOINT: 'http://localhost:9000',
    TINTYPE_CDN: 'http-purge',
    TINTYPE_CDN_URL: 'http://localhost:6081',
    TINTYPE_SCANNER: 'http',
    TINTYPE_SCANNER_URL: 'http://localhost:9001/scan',
    TINTYPE_CALLBACK_EGRESS: 'any',
  };
  const { environment } = instanceOf({
    ...given,
    TINTYPE_LOG_LEVEL: 'debug',
    TINTYPE_S3_REGION: '',
  });
  expect(environment).toEqual(given);
  const { scanner, callbackEgress } = parseConfig(environment);
  expect([scanner, callbackEgress]).toEqual(['http', 'any']);
});
