import { describe, expect, it } from 'vitest';
import { ConfigError, type Environment, parseConfig } from '../../../runtime/platform/config.ts';
import { type Variable, variables } from '../../../runtime/platform/config-variables.ts';

import { configExamples } from '../../support/config-examples.ts';

const table = Object.values<Variable>(variables);
const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

function problemsOf(env: Environment): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('the table of variables', () => {
  it('has unique names, valid examples and valid defaults', () => {
    expect(new Set(table.map(({ name }) => name)).size).toBe(table.length);
    for (const { name, type } of table) {
      expect(type.safeParse(configExamples[name]).success, name).toBe(true);
    }
    expect(problemsOf({ ...configExamples, NODE_ENV: 'test' })).toEqual([]);
    expect(problemsOf({})).toEqual([]);
  });

  it('describes every variable in one line', () => {
    for (const { name, description } of table) {
      expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/);
      expect(description.length, name).toBeGreaterThanOrEqual(8);
      expect(description, name).not.toContain('\n');
    }
  });
});

describe('parseConfig', () => {
  it('returns the defaults if nothing is set', () => {
    expect(parseConfig({})).toMatchObject({
      deliveryScheme: 'https',
      deliveryPublicPort: undefined,
      staffApi: 'disabled',
      ingestMaxBytes: 250_000_000,
      proxyMaxBytes: 100_000_000,
      svgUploads: 'enabled',
      mediaLibraryWrites: 'enabled',
      librarySessions: 'enabled',
      unindexedThreshold: 100_000,
      rateFailedAuthentications: 20,
      rateWrites: 6000,
      callbackEgress: 'public',
      cdn: 'none',
      scanner: 'none',
      trustedProxies: [],
      providerBPlans: {},
    });
  });

  it('drops repeated entries of a list', () => {
    const { watchNamespaces } = parseConfig({ TINTYPE_WATCH_NAMESPACES: 'shop, blog,,shop' });
    expect(watchNamespaces).toEqual(['shop', 'blog']);
  });

  it('treats an empty variable as unset', () => {
    const empty = Object.fromEntries(table.map(({ name }) => [name, '']));
    expect(parseConfig(empty)).toEqual(parseConfig({}));
  });

  it('ignores white space around a value', () => {
    const ending = Object.fromEntries(
      table
        .filter(({ name }) => !/SECRET|_TOKEN$|API_KEY$/.test(name))
        .map(({ name }) => [name, ` ${configExamples[name]}\n`]),
    );
    const clean = Object.fromEntries(
      Object.keys(ending).map((name) => [name, ending[name]?.trim()]),
    );
    expect(parseConfig({ ...ending, NODE_ENV: 'test\n' })).toEqual(
      parseConfig({ ...clean, NODE_ENV: 'test' }),
    );
  });

  it('rejects white space around a secret', () => {
    const names = table
      .map(({ name }) => name)
      .filter((name) => /SECRET|_TOKEN$|API_KEY$/.test(name));
    expect(names).toHaveLength(6);
    for (const name of names) {
      expect(problemsOf({ [name]: 'a-long-enough-text\n' })).toEqual([
        expect.stringMatching(`^${name}: expected a secret without white space around it;`),
      ]);
    }
  });

  it.each([
    ['https://api.example.com:443', 'https://api.example.com'],
    ['http://API.example.com:80/', 'http://api.example.com'],
    ['https://api.example.com:08443', 'https://api.example.com:8443'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('normalizes the origin %s', (written, printed) => {
    const env = { TINTYPE_BASE_URL: written, TINTYPE_DASHBOARD_ORIGINS: written };
    expect(parseConfig(env)).toMatchObject({ baseUrl: printed, dashboardOrigins: [printed] });
  });

  it('parses every kind of value', () => {
    const config = parseConfig({
      TINTYPE_BASE_URL: 'https://api.example.com/',
      TINTYPE_TOKEN_KEYS: `new:${key(1)}, old:${key(2)}`,
      TINTYPE_TRUSTED_PROXIES: '10.0.0.0/8, ::1,',
      TINTYPE_PROVIDER_B_PLANS: 'p1=starter,p2=growth',
      TINTYPE_SCANNER_THRESHOLDS: 'nudity=0.85',
      TINTYPE_METRICS_PORT: '0',
    });
    expect(config.baseUrl).toBe('https://api.example.com');
    expect(config.tokenKeys?.map(({ id }) => id)).toEqual(['new', 'old']);
    expect(config.tokenKeys?.[1]?.key).toEqual(new Uint8Array(32).fill(2));
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', '::1']);
    expect(config.providerBPlans).toEqual({ p1: 'starter', p2: 'growth' });
    expect(config.scannerThresholds).toEqual({ nudity: 0.85 });
    expect(config.metricsPort).toBe(0);
  });

  it('reports name, expectation and example of every problem, and never the value', () => {
    const problems = problemsOf({
      TINTYPE_DATABASE_URL: 'mysql://root:hunter2@db/x',
      TINTYPE_API_PORT: '80800',
      TINTYPE_STAFF_API: 'yes',
    });
    expect(problems).toEqual([
      'TINTYPE_DATABASE_URL: expected a URL that begins with postgres:// or postgresql://; for example TINTYPE_DATABASE_URL=postgres://tintype:password@db.internal:5432/tintype',
      'TINTYPE_STAFF_API: expected one of enabled, disabled; for example TINTYPE_STAFF_API=enabled',
      'TINTYPE_API_PORT: expected a whole number from 0 to 65535; for example TINTYPE_API_PORT=8080',
    ]);
  });

  it.each([
    ['TINTYPE_INGEST_MAX_BYTES', '0'],
    ['TINTYPE_INGEST_MAX_BYTES', '1e9'],
    ['TINTYPE_INGEST_MAX_BYTES', '-1'],
    ['TINTYPE_BASE_URL', 'api.example.com'],
    ['TINTYPE_BASE_URL', 'https://api.example.com/v1'],
    ['TINTYPE_DELIVERY_ROOT_DOMAIN', 'https://img.example.com'],
    ['TINTYPE_KEY_ENCRYPTION_KEYS', 'k1:short'],
    ['TINTYPE_KEY_ENCRYPTION_KEYS', `k1:${key(1)},k1:${key(2)}`],
    ['TINTYPE_KEY_ENCRYPTION_KEYS', ','],
    ['TINTYPE_REQUEST_SIGNING_SECRET', 'short'],
    ['TINTYPE_TRUSTED_PROXIES', 'everybody'],
    ['TINTYPE_TRUSTED_PROXIES', '10.0.0.256'],
    ['TINTYPE_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TINTYPE_TRUSTED_PROXIES', '10.0.0.0/0'],
    ['TINTYPE_TRUSTED_PROXIES', 'fd00::/129'],
    ['TINTYPE_TRUSTED_PROXIES', '::1::'],
    ['TINTYPE_DASHBOARD_ORIGINS', 'https://a.example,*'],
    ['TINTYPE_SCANNER_THRESHOLDS', 'nudity=7'],
    ['TINTYPE_SCANNER_THRESHOLDS', 'nudity=-0.1'],
    ['TINTYPE_SCANNER_THRESHOLDS', 'nudity=high'],
    ['TINTYPE_SCANNER_THRESHOLDS', 'Nudity=0.5'],
    ['TINTYPE_PROVIDER_A_PLANS', 'starter'],
    ['TINTYPE_CDN', 'akamai'],
    ['TINTYPE_LOG_LEVEL', 'verbose'],
    ['TINTYPE_CALLBACK_PORTS', ','],
    ['TINTYPE_IDENTITY_AUDIENCE', ' '],
    ['TINTYPE_DASHBOARD_ORIGINS', 'https://*.example.com'],
    ['TINTYPE_BASE_URL', 'https://user@api.example.com'],
    ['TINTYPE_BASE_URL', 'https://api.example.com:'],
    ['TINTYPE_BASE_URL', 'https://exa%6dple.com'],
    ['TINTYPE_BASE_URL', 'https://api.example.com?'],
  ])('rejects %s=%s with a one-line problem', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name}: expected .+; for example ${name}=`));
    expect(problems[0]).not.toContain('\n');
    // No message of zod's own.
    expect(problems[0]).not.toMatch(/Invalid|Too (?:big|small)|received/);
  });

  it('rejects callbacks to any address in production', () => {
    const any = { TINTYPE_CALLBACK_EGRESS: 'any' };
    expect(parseConfig(any).callbackEgress).toBe('any');
    expect(problemsOf({ ...any, NODE_ENV: 'production' })).toEqual([
      'TINTYPE_CALLBACK_EGRESS: expected public, because NODE_ENV is production; for example TINTYPE_CALLBACK_EGRESS=public',
    ]);
  });

  it('rejects failpoints in production, and unknown failpoints', () => {
    const failpoint = { TINTYPE_FAILPOINT: 'ingest.published' };
    expect(parseConfig(failpoint).failpoint).toBe('ingest.published');
    expect(problemsOf({ ...failpoint, NODE_ENV: 'production' })[0]).toContain(
      'TINTYPE_FAILPOINT: expected it to be unset, because NODE_ENV is production',
    );
    expect(problemsOf({ TINTYPE_FAILPOINT: 'ingest.nowhere' })[0]).toContain(
      'TINTYPE_FAILPOINT: expected one of ',
    );
  });

  it('requires TINTYPE_SCANNER_URL for the http scanner', () => {
    expect(problemsOf({ TINTYPE_SCANNER: 'http' })[0]).toContain(
      'TINTYPE_SCANNER_URL: expected it to be set, because TINTYPE_SCANNER is http',
    );
    expect(problemsOf({ TINTYPE_SCANNER: 'embedded' })).toEqual(problemsOf({}));
  });

  it('accepts a bucket name with a dash next to a dot, and rejects one with two dots in a row', () => {
    expect(problemsOf({ TINTYPE_INGEST_BUCKET: 'in-.put' })).toEqual(problemsOf({}));
    expect(problemsOf({ TINTYPE_INGEST_BUCKET: 'in..put' })[0]).toContain('two dots in a row');
  });

  it.each([
    ...[
      'qL5Ks2Cn1pYwO8uTgVxZ0rHdJ3mFbNeA7iQ6tSyWvXk=',
      'Zb3Qe9Xw7LkR1uMvT5yHsA8dC2fGjN6pO4iUq0WnKxE=',
    ],
    ...[key(0), key(0).replace('A=', 'B=')],
  ])(
    'rejects the key %s, which everybody knows, unless it only opens what it once sealed',
    (known) => {
      for (const value of [`a:${known}`, `b:${key(1)},a:${known}`]) {
        expect(problemsOf({ TINTYPE_TOKEN_KEYS: value })).toEqual([
          'TINTYPE_TOKEN_KEYS: expected random keys of your own, not an example; for example TINTYPE_TOKEN_KEYS=t1:$(openssl rand -base64 32)',
        ]);
      }
      expect(problemsOf({ TINTYPE_KEY_ENCRYPTION_KEYS: `a:${known},b:${key(1)}` })).toEqual([
        'TINTYPE_KEY_ENCRYPTION_KEYS: expected a random key of your own as the first, not an example; others are still accepted behind it; for example TINTYPE_KEY_ENCRYPTION_KEYS=k1:$(openssl rand -base64 32)',
      ]);
      const opening = { TINTYPE_KEY_ENCRYPTION_KEYS: `b:${key(1)},a:${known}` };
      expect(problemsOf(opening)).toEqual(problemsOf({}));
    },
  );

  it('says that a command has to be run', () => {
    const names = ['TINTYPE_KEY_ENCRYPTION_KEYS', 'TINTYPE_STORAGE_EVENT_SECRET'];
    for (const { name, example } of table.filter((each) => names.includes(each.name))) {
      expect(problemsOf({ [name]: example })).toEqual([
        `${name}: expected what the command prints: let a shell run it; for example ${name}=${example}`,
      ]);
    }
  });

  it('accepts a secret that begins with an angle bracket', () => {
    const found = problemsOf({ TINTYPE_PROVIDER_B_SECRET: '<9fK2!x0Zq7Lw3Vb8Rm5Tn' });
    expect(found).toEqual(problemsOf({}));
  });

  it.each(table.filter(({ example }) => /[$<]/.test(example)))(
    'rejects the documented example of $name, which is no secret',
    ({ name, example }) => {
      expect(problemsOf({ [name]: example })).toEqual([
        expect.stringContaining(`${name}: expected `),
      ]);
    },
  );

  it('rejects a secret that documents printed once', () => {
    for (const who of ['the-dashboard', 'the-storage', 'provider-a']) {
      expect(problemsOf({ TINTYPE_STORAGE_EVENT_SECRET: `a-long-random-text-of-${who}` })).toEqual([
        'TINTYPE_STORAGE_EVENT_SECRET: expected the secret itself, not an example; for example TINTYPE_STORAGE_EVENT_SECRET=$(openssl rand -hex 32)',
      ]);
    }
  });

  it('rejects a key that both signs tokens and encrypts', () => {
    const env = (token: number) => ({
      TINTYPE_KEY_ENCRYPTION_KEYS: `k2:${key(2)},k1:${key(1)}`,
      TINTYPE_TOKEN_KEYS: `t1:${key(3)},t0:${key(token)}`,
    });
    expect(problemsOf(env(4))).toEqual([]);
    expect(problemsOf(env(1))).toEqual([
      expect.stringContaining(
        'TINTYPE_TOKEN_KEYS: expected other keys than TINTYPE_KEY_ENCRYPTION_KEYS;',
      ),
    ]);
  });

  it('rejects the same bucket for uploads and content', () => {
    const one = { TINTYPE_INGEST_BUCKET: 'pictures', TINTYPE_CONTENT_BUCKET: 'pictures' };
    const says = 'TINTYPE_CONTENT_BUCKET: expected another bucket than TINTYPE_INGEST_BUCKET';
    expect(problemsOf(one)[0]).toContain(says);
    expect(problemsOf({ TINTYPE_INGEST_BUCKET: 'tintype-content' })[0]).toContain(says);
  });

  it('rejects the same secret for any two inbound callers', () => {
    const names = [
      'TINTYPE_REQUEST_SIGNING_SECRET',
      'TINTYPE_STORAGE_EVENT_SECRET',
      'TINTYPE_PROVIDER_A_SECRET',
      'TINTYPE_PROVIDER_B_SECRET',
    ];
    const own = Object.fromEntries(names.map((name, at) => [name, `${'s'.repeat(31)}${at}`]));
    expect(problemsOf(own)).toEqual([]);
    for (const [at, first] of names.entries()) {
      for (const second of names.slice(at + 1)) {
        const problems = problemsOf({ ...own, [second]: own[first] });
        expect(problems).toHaveLength(1);
        expect(problems[0]).toContain(`${second}: expected a secret that differs`);
        expect(problems[0]).not.toContain(own[first]);
      }
    }
  });

  it('requires the variables that other variables depend on', () => {
    expect(problemsOf({ TINTYPE_SCANNER: 'http' })[0]).toContain('TINTYPE_SCANNER_URL');
    expect(problemsOf({ TINTYPE_CDN: 'http-purge' })[0]).toContain('TINTYPE_CDN_URL');
    expect(problemsOf({ TINTYPE_CDN: 'cloudflare' })).toHaveLength(2);
    const caches = { TINTYPE_CDN_URL: 'http://a.internal:6081, http://b.internal:6081' };
    expect(problemsOf({ TINTYPE_CDN: 'http-purge', ...caches })).toEqual([]);
    expect(
      problemsOf({ TINTYPE_CDN: 'cloudfront', TINTYPE_CDN_ZONE: 'E1', ...caches })[0],
    ).toContain('expected one address');
    const purge = { TINTYPE_CDN: 'http-purge', TINTYPE_CDN_METHOD: 'PURGE', ...caches };
    expect(problemsOf(purge)[0]).toContain('TINTYPE_DELIVERY_ROOT_DOMAIN');
    expect(problemsOf({ TINTYPE_IDENTITY_ISSUER: 'https://id.example' })[0]).toContain('JWKS');
  });

  it('returns the variables that a process requires, or names all that are missing', () => {
    const env = { TINTYPE_DATABASE_URL: 'postgres://localhost/tintype' };
    const url: string = parseConfig(env, ['databaseUrl']).databaseUrl;
    expect(url).toBe('postgres://localhost/tintype');
    expect(() => parseConfig({}, ['databaseUrl', 'tokenKeys'])).toThrow(
      /TINTYPE_DATABASE_URL: expected it to be set[\s\S]*TINTYPE_TOKEN_KEYS: expected it to be set/,
    );
  });
});
