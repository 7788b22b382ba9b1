import { describe, expect, it } from 'vitest';
import { isFree } from '../../../operator/image-service/extra-env.ts';
import { components, type Process } from '../../../operator/image-service/installation.ts';
import { environmentOf } from '../../../operator/image-service/render/environment.ts';
import { imageServiceSpec } from '../../../operator/image-service/schema.ts';
import { apiFields } from '../../../runtime/api/serve.ts';
import { type ConfigField, parseConfig } from '../../../runtime/platform/config.ts';
import { variables } from '../../../runtime/platform/config-variables.ts';
import { configExamples } from '../../support/config-examples.ts';
import { full, least } from './samples.ts';

const processes: readonly Process[] = [...components, 'migrate', 'job'];
const known = new Set<string>(Object.values(variables).map(({ name }) => name));
const takenVariables = [...known].filter((name) => !isFree(name));
/** Variables of Node.js and of the storage client. */
const foreign = [
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
];

/** As the container sees it, with the documented examples as the values from Secrets. */
function environment(process: Process, spec: object): Record<string, string> {
  const parsed = imageServiceSpec.parse(spec);
  return Object.fromEntries(
    environmentOf(process, parsed).map(({ name, value }) => [
      name,
      value ?? configExamples[name] ?? 'of a Secret',
    ]),
  );
}

const needs: Partial<Record<Process, readonly ConfigField[]>> = {
  api: apiFields,
  delivery: ['deliveryRootDomain', 'keyEncryptionKeys', 'spoolDir'],
};
const shared: readonly ConfigField[] = ['databaseUrl', 's3Endpoint', 'amqpUrl'];

describe.each(processes)('the environment of %s', (process) => {
  it('has only known variables, each once', () => {
    for (const spec of [least, full]) {
      const names = environmentOf(process, imageServiceSpec.parse(spec)).map(({ name }) => name);
      const extra = spec === full ? full.extraEnv.map(({ name }) => name as string) : [];
      const strange = names.filter((name) => !known.has(name) && !foreign.includes(name));
      expect(strange.filter((name) => !extra.includes(name))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('is a valid configuration with everything that the process needs', () => {
    const required = [...(process === 'migrate' ? [] : shared), ...(needs[process] ?? [])];
    for (const spec of [least, full]) {
      expect(() => parseConfig(environment(process, spec), required)).not.toThrow();
    }
  });

  it('sets no variable from a field that extraEnv could set as well', () => {
    const own = environmentOf(process, imageServiceSpec.parse({ ...full, extraEnv: [] }));
    const open = own.filter(({ name }) => known.has(name) && !takenVariables.includes(name));
    expect(open.map(({ name }) => name)).toEqual([]);
  });
});

describe('the environment of an installation', () => {
  it('sets every reserved variable in at least one process', () => {
    const set = new Set(processes.flatMap((each) => Object.keys(environment(each, full))));
    const nowhere = takenVariables.filter((name) => !set.has(name));
    // Variables of tests, and of the operator itself.
    expect(nowhere.toSorted()).toEqual([
      'TINTYPE_CALLBACK_EGRESS',
      'TINTYPE_DELIVERY_NAMESPACE',
      'TINTYPE_FAILPOINT',
      'TINTYPE_RUNTIME_NAMESPACES',
      'TINTYPE_WATCH_NAMESPACES',
    ]);
  });

  it('has the values of the fields of the spec', () => {
    expect(environment('api', full)).toMatchObject({
      TINTYPE_BASE_URL: 'https://api.example.com',
      TINTYPE_UPLOAD_BASE_URL: 'https://upload.example.com',
      TINTYPE_DELIVERY_SCHEME: 'http',
      TINTYPE_DELIVERY_PUBLIC_PORT: '8443',
      TINTYPE_IDENTITY_JWKS_URL: 'https://id.example.com/realm/certs',
      TINTYPE_STAFF_API: 'enabled',
      TINTYPE_STAFF_SUBJECTS: 'user_1,user_2',
      TINTYPE_S3_FORCE_PATH_STYLE: 'true',
      TINTYPE_RATE_WRITES: '9000',
      TINTYPE_LOG_LEVEL: 'debug',
      TINTYPE_PLANS: '/etc/tintype/plans/plans.yaml',
      NODE_EXTRA_CA_CERTS: '/etc/tintype/ca/ca.crt',
    });
    expect(environment('delivery', full)).toMatchObject({
      TINTYPE_BASE_URL: 'https://api.example.com',
    });
    expect(environment('dispatcher', full)).toMatchObject({
      TINTYPE_CDN: 'http-purge',
      TINTYPE_CDN_URL: 'http://varnish:6081',
      TINTYPE_CDN_CALLS_PER_MINUTE: '60',
    });
    expect(environment('api', least)).toMatchObject({
      TINTYPE_IDENTITY_JWKS_URL: 'https://id.example.com/.well-known/jwks.json',
    });
  });

  it.each([
    { baseURL: 'https://api.example.com:443' },
    { baseURL: 'https://api.example.com:08443' },
    { uploadBaseURL: 'http://upload.example.com:80' },
    { dashboardOrigins: ['https://app.example.com:443'] },
    { marketingOrigins: ['https://127.1'] },
    { scanner: { kind: 'HTTP', url: 'http://model/', thresholds: ['level_2=0.9'] } },
  ])('is accepted by every process if the resource is valid: %j', (fields) => {
    for (const process of processes) {
      expect(() => parseConfig(environment(process, { ...least, ...fields }))).not.toThrow();
    }
  });

  it('gives each worker pool only slots of its own kind', () => {
    const ingest = { TINTYPE_INGEST_SLOTS: '3', TINTYPE_RENDER_SLOTS: '0' };
    const render = { TINTYPE_INGEST_SLOTS: '0', TINTYPE_RENDER_SLOTS: '3' };
    expect(environment('worker-ingest', full)).toMatchObject(ingest);
    expect(environment('worker-render', full)).toMatchObject(render);
  });

  it('gives each worker pool two slots by default', () => {
    const { ingestSlots, renderSlots } = variables;
    const slots = (process: Process, name: string) => environment(process, least)[name];
    expect(slots('worker-ingest', ingestSlots.name)).toBe(ingestSlots.default);
    expect(slots('worker-render', renderSlots.name)).toBe('2');
  });

  it('keeps the heap and the memory of uploads within the memory of the pod', () => {
    const bytes = Number(environment('worker-ingest', least)['TINTYPE_INGEST_MEMORY_BYTES']);
    expect(bytes).toBe(Math.floor(4 * 2 ** 30 * 0.6));
    const larger = Number(environment('worker-ingest', full)['TINTYPE_INGEST_MEMORY_BYTES']);
    expect(larger).toBe(Math.floor(6 * 2 ** 30 * 0.6));
    expect(environment('api', least)['NODE_OPTIONS']).toBe('--max-old-space-size=460');
    expect(environment('worker-ingest', least)['NODE_OPTIONS']).toBe('--max-old-space-size=819');
  });

  it('hands each secret only to the processes that need it', () => {
    const holders = (name: string) =>
      processes.filter((each) => name in environment(each, full)).toSorted();
    expect(holders('TINTYPE_TOKEN_KEYS')).toEqual(['api']);
    expect(holders('TINTYPE_REQUEST_SIGNING_SECRET')).toEqual(['api']);
    expect(holders('TINTYPE_KEY_ENCRYPTION_KEYS')).toEqual(['api', 'delivery', 'dispatcher']);
    expect(holders('TINTYPE_CDN_TOKEN')).toEqual(['dispatcher']);
    expect(holders('TINTYPE_PLANS')).toEqual(['api']);
    expect(holders('AWS_SECRET_ACCESS_KEY')).not.toContain('migrate');
  });

  it('sets the variables that only the API reads for no other process', () => {
    const { trustedProxies, dashboardOrigins, marketingOrigins } = variables;
    for (const { name } of [trustedProxies, dashboardOrigins, marketingOrigins]) {
      expect(processes.filter((each) => name in environment(each, full))).toEqual(['api']);
    }
  });

  it('never contains the value of a Secret', () => {
    const literals = processes.flatMap((each) =>
      environmentOf(each, imageServiceSpec.parse(full)).filter(({ value }) => value !== undefined),
    );
    const secret = /SECRET|KEYS$|TOKEN|PASSWORD|DATABASE_URL|AMQP_URL|API_KEY/;
    expect(literals.filter(({ name }) => secret.test(name))).toEqual([]);
  });
});
