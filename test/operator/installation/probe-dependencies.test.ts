import { once } from 'node:events';
import { type AddressInfo, createServer as createPlainServer } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ImageServiceSpec, imageServiceSpec } from '../../../operator/image-service/schema.ts';
import type { FoundSecrets } from '../../../operator/image-service/secrets.ts';
import { createProbeDependencies } from '../../../operator/installation/probe-dependencies.ts';
import { systemTimedClock } from '../../../operator/kube/timed-clock.ts';
import { writeBucketCors } from '../../../runtime/platform/storage/s3-cors.ts';
import { connectS3, createBucket, type S3Server, startS3Server } from '../../support/s3-server.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { type Broker, takeVirtualHost } from '../../support/shared-broker.ts';
import { least } from '../image-service/samples.ts';

let rabbit: Broker;
let s3: S3Server;
beforeAll(async () => {
  [rabbit, s3] = await Promise.all([takeVirtualHost(), startS3Server()]);
  const access = connectS3(s3);
  for (const bucket of ['in-bucket', 'out-bucket', 'without-cors'])
    await createBucket(access, bucket);
  await writeBucketCors(access, 'in-bucket');
}, 300_000);
afterAll(() => s3.stop());

type Declared = {
  spec?: Partial<Omit<ImageServiceSpec, 'storage'>> & { storage?: object };
  amqp?: string;
  secret_key?: string;
  /** Overrides the endpoint in the Secret. */
  endpoint?: string;
};

const buckets = { addressing: 'Path', ingestBucket: 'in-bucket', contentBucket: 'out-bucket' };

function probed(declared: Declared = {}, probe = createProbeDependencies(systemTimedClock)) {
  const { spec, amqp = rabbit.url, secret_key, endpoint } = declared;
  const storage = { ...buckets, ...spec?.storage };
  const parsed = imageServiceSpec.parse({ ...least, ...spec, storage });
  const found: FoundSecrets = {
    mq: { url: amqp },
    s3: {
      TINTYPE_S3_ENDPOINT: endpoint ?? s3.endpoint,
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: secret_key ?? s3.credentials.secretAccessKey,
    },
  };
  return probe(parsed, found);
}

describe('the broker and the buckets of an installation', () => {
  it('are usable with a quorum queue, both buckets and CORS for browsers', async () => {
    expect(await probed()).toEqual({
      broker: { reason: 'Usable', message: expect.stringMatching(/^RabbitMQ 3.*quorum/) },
      storage: { reason: 'Usable', message: expect.stringMatching(/Both buckets/) },
    });
  });

  it('are not probed again for a while, separately for each installation', async () => {
    let elapsed = 0;
    const probe = createProbeDependencies({ ...systemTimedClock, elapsed: () => elapsed });
    let connections = 0;
    const broker = createPlainServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(broker, 'listening');
    const { port } = broker.address() as AddressInfo;
    const one = () => probed({ amqp: `amqp://127.0.0.1:${port}` }, probe);
    const other = () => probed({ amqp: 'amqp://127.0.0.1:1' }, probe);
    await one();
    const tries = connections;
    await other();
    await one();
    expect(connections).toBe(tries);
    elapsed = 10_001;
    await one();
    expect(connections).toBe(2 * tries);
    broker.close();
  });

  it.each([
    ['a wrong password', { password: 'wrong' }, /refuses the user/],
    ['a closed port', { port: '1' }, /does not listen there/],
    [
      'a host that does not exist, with digits in its name,',
      { hostname: 'mq-403.invalid' },
      /cannot be found/,
    ],
    [
      'TLS at the plaintext port',
      { protocol: 'amqps:' },
      /speaks no TLS at that port: check the port/,
    ],
  ])('cannot be used with %s of the broker', async (_name, part, message) => {
    const url = Object.assign(new URL(rabbit.url), part);
    const { broker } = await probed({ amqp: url.href });
    expect(broker.reason).toBe('BrokerUnusable');
    expect(broker.message).toMatch(message);
    expect(broker.message).toMatch(/Secret 'mq' \(`spec.amqpSecretRef`\)/);
    expect(broker.message).not.toContain('wrong@');
  });

  it('cannot be used if the certificate of the broker has an unknown issuer', async () => {
    const server = createServer(makeSelfSigned('localhost')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { broker } = await probed({ amqp: `amqps://localhost:${port}` });
    server.close();
    expect(broker.reason).toBe('BrokerUnusable');
    expect(broker.message).toMatch(/certificate that is not trusted here: check who issued it/);
  });

  it('cannot be used with keys that the storage does not know', async () => {
    const { storage } = await probed({ secret_key: 'another' });
    expect(storage.reason).toBe('StorageUnusable');
    expect(storage.message).toMatch(
      /^The object .* in Secret 's3' \(`spec.storageSecretRef`\): The bucket in-bucket refuses/,
    );
  });

  const nowhere = 'http://127.0.0.1:1';
  it.each([
    ['the resource', { spec: { storage: { endpoint: nowhere } } }, /check `spec.storage.endpoint`/],
    ['the Secret', { endpoint: nowhere }, /check TINTYPE_S3_ENDPOINT/],
  ])('cannot be used if nothing listens at the endpoint of %s', async (_place, part, words) => {
    const { storage } = await probed(part);
    expect(storage.reason).toBe('StorageUnusable');
    expect(storage.message).toMatch(words);
  });

  it('cannot be used if a bucket does not exist', async () => {
    const storage = { ingestBucket: 'not-there' };
    expect((await probed({ spec: { storage } })).storage.reason).toBe('StorageUnusable');
  });

  it('can be used without CORS, which is reported as CorsMissing', async () => {
    const storage = { ingestBucket: 'without-cors' };
    const verdict = (await probed({ spec: { storage } })).storage;
    expect(verdict.reason).toBe('CorsMissing');
    expect(verdict.message).toMatch(/tintype doctor --fix-cors/);
  });

  it('are not checked if only pods have the CA or the credentials', async () => {
    const caConfigMapRef = { name: 'ca', key: 'ca.crt' };
    const amqp = rabbit.url.replace('amqp:', 'amqps:');
    const ofPods = await probed({ amqp, spec: { caConfigMapRef, storageSecretRef: undefined } });
    expect(ofPods.broker.reason).toBe('NotChecked');
    expect(ofPods.storage.reason).toBe('NotChecked');
  });
});
