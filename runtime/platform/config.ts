/**
 * Reads the configuration from the environment. A wrong value stops the start with the variable's name, what was
 * expected and an example; never with the value, which may be a secret. An empty variable counts as unset.
 */
import type { z } from 'zod';
import { type Variable, variables } from './config-variables.ts';

/** The values by their names in code; undefined when a variable is unset and has no default. */
export type Config = { [Field in ConfigField]: ValueOf<(typeof variables)[Field]> };
export type ConfigField = keyof typeof variables;
export type Environment = Readonly<Record<string, string | undefined>>;

type ValueOf<V extends Variable> = V extends { default: string }
  ? z.output<V['type']>
  : z.output<V['type']> | undefined;

/** The configuration of a process that requires these fields, which have no default. */
export type ConfigWith<Field extends ConfigField> = Config & {
  [Name in Field]: Exclude<Config[Name], undefined>;
};

/** Lists everything that is wrong with a configuration, one line per variable. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the configuration is wrong:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Parses the environment. `required`: the fields without which this process cannot work. */
export function parseConfig<Field extends ConfigField = never>(
  env: Environment,
  required: readonly Field[] = [],
): ConfigWith<Field> {
  const problems: string[] = [];
  const entries = Object.entries<Variable>(variables).map(([field, variable]) => {
    const isRequired = required.some((name) => name === field);
    const { value, problem } = parseVariable(variable, env[variable.name] || undefined, {
      isRequired,
    });
    if (problem !== undefined) problems.push(problem);
    return [field, value];
  });
  const config = Object.fromEntries(entries) as ConfigWith<Field>;
  if (problems.length === 0) problems.push(...findBrokenRules(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

type Parsed = { value?: unknown; problem?: string };

function parseVariable(
  variable: Variable,
  given: string | undefined,
  need: { isRequired: boolean },
): Parsed {
  const raw = given ?? variable.default;
  if (raw === undefined) {
    return need.isRequired ? { problem: printProblem(variable, 'it to be set') } : {};
  }
  const result = variable.type.safeParse(raw);
  if (result.success) return { value: result.data };
  return { problem: printProblem(variable, result.error.issues[0]?.message ?? 'another value') };
}

function printProblem({ name, example }: Variable, expected: string): string {
  return `${name}: expected ${expected}; for example ${name}=${example}`;
}

type Rule = { isBroken(config: Config): boolean; variable: Variable; expected: string };

/** Others sign their calls with these; secrets of equal value could be used for each other. */
const INBOUND_SECRETS = [
  'requestSigningSecret',
  'storageEventSecret',
  'providerASecret',
  'providerBSecret',
] as const satisfies readonly ConfigField[];

/** Rules that involve more than one variable. */
const rules: readonly Rule[] = [
  ...INBOUND_SECRETS.map((field, at) => ({
    isBroken: (config: Config) =>
      config[field] !== undefined &&
      INBOUND_SECRETS.slice(0, at).some((other) => config[other] === config[field]),
    variable: variables[field],
    expected: 'a secret that differs from the other inbound secrets',
  })),
  {
    isBroken: ({ tokenKeys = [], keyEncryptionKeys = [] }) =>
      tokenKeys.some(({ key }) => keyEncryptionKeys.some((other) => isSame(key, other.key))),
    variable: variables.tokenKeys,
    expected: 'other keys than TINTYPE_KEY_ENCRYPTION_KEYS',
  },
  {
    // The sweep of the upload bucket deletes everything that no running upload knows: in a shared
    // bucket, every image.
    isBroken: (config) => config.ingestBucket === config.contentBucket,
    variable: variables.contentBucket,
    expected: 'another bucket than TINTYPE_INGEST_BUCKET',
  },
  {
    isBroken: (config) => config.callbackEgress === 'any' && config.nodeEnv === 'production',
    variable: variables.callbackEgress,
    expected: 'public, because NODE_ENV is production',
  },
  {
    isBroken: (config) => config.failpoint !== undefined && config.nodeEnv === 'production',
    variable: variables.failpoint,
    expected: 'it to be unset, because NODE_ENV is production',
  },
  {
    isBroken: (config) => config.identityIssuer !== undefined && !config.identityJwksUrl,
    variable: variables.identityJwksUrl,
    expected: 'it to be set, because TINTYPE_IDENTITY_ISSUER is',
  },
  {
    isBroken: (config) => config.scanner === 'http' && !config.scannerUrl,
    variable: variables.scannerUrl,
    expected: 'it to be set, because TINTYPE_SCANNER is http',
  },
  {
    isBroken: (config) => config.cdn === 'http-purge' && config.cdnUrl.length === 0,
    variable: variables.cdnUrl,
    expected: 'it to be set, because TINTYPE_CDN is http-purge',
  },
  {
    isBroken: (config) => config.cdn !== 'http-purge' && config.cdnUrl.length > 1,
    variable: variables.cdnUrl,
    expected: 'one address, because TINTYPE_CDN is not http-purge',
  },
  {
    isBroken: (config) =>
      config.cdn === 'http-purge' &&
      config.cdnMethod === 'PURGE' &&
      config.deliveryRootDomain === undefined,
    variable: variables.deliveryRootDomain,
    expected: 'it to be set, because TINTYPE_CDN_METHOD is PURGE',
  },
  {
    isBroken: (config) => hasZone(config.cdn) && !config.cdnZone,
    variable: variables.cdnZone,
    expected: 'it to be set, because of TINTYPE_CDN',
  },
  {
    isBroken: (config) => hasToken(config.cdn) && !config.cdnToken,
    variable: variables.cdnToken,
    expected: 'it to be set, because of TINTYPE_CDN',
  },
];

function isSame(key: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(key).equals(other);
}

function hasZone(cdn: Config['cdn']): boolean {
  return cdn === 'cloudflare' || cdn === 'fastly' || cdn === 'cloudfront';
}

function hasToken(cdn: Config['cdn']): boolean {
  return cdn === 'cloudflare' || cdn === 'fastly';
}

function findBrokenRules(config: Config): string[] {
  return rules
    .filter((rule) => rule.isBroken(config))
    .map((rule) => printProblem(rule.variable, rule.expected));
}
