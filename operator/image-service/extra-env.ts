/**
 * The variables that an ImageService may set by name in `extraEnv`: the configuration variables that no field sets.
 * Variables set by a field or meant for tests are refused.
 */
import type { ConfigField } from '../../runtime/platform/config.ts';
import { type Variable, variables } from '../../runtime/platform/config-variables.ts';
import { group, named, objectName, text } from '../fields.ts';
import { dataKey } from './fields.ts';

const free: readonly ConfigField[] = [
  'providerAMode',
  'providerBMode',
  'providerAPlans',
  'providerBPlans',
  'providerBUrl',
  'ingestMaxBytes',
  'proxyMaxBytes',
  'svgUploads',
  'avifUploads',
  'mediaLibraryWrites',
  'librarySessions',
  'rateFailedAuthentications',
  'rateWrites',
  'unindexedThreshold',
  'callbackPorts',
];

const freeVariables: readonly string[] = free.map((field) => variables[field].name);

/** The trace exporter reads all variables with this prefix itself; only its address has a field. */
const TRACING = 'OTEL_EXPORTER_OTLP_';

export function isFree(name: string): boolean {
  const isOfTracing = name.startsWith(TRACING) && name !== variables.otlpEndpoint.name;
  return isOfTracing || freeVariables.includes(name);
}

const expected =
  'the name of a variable of the configuration, or one that begins with OTEL_EXPORTER_OTLP_, that no field decides';

const byName: ReadonlyMap<string, Variable> = new Map(
  Object.values(variables).map((each) => [each.name, each]),
);

/** Undefined for a variable that the trace exporter reads. */
export function findVariable(name: string): Variable | undefined {
  return byName.get(name);
}

/** Why pods would refuse the value; they treat an empty one as unset. */
function issueOf(name: string, value = ''): string | undefined {
  if (value === '') return undefined;
  return findVariable(name)?.type.safeParse(value).error?.issues[0]?.message;
}

const variable = group('{ name, value } or { name, secretKeyRef }', {
  name: text(expected, { max: 64, pattern: /^(TINTYPE|OTEL_EXPORTER_OTLP)_[A-Z0-9_]+$/ })
    .refine(isFree, { error: expected })
    .describe('The name of the variable, as in the configuration reference.'),
  value: text('a text', { min: 0, max: 4096 }).describe('Its value.').optional(),
  secretKeyRef: group('{ name, key }', {
    name: objectName('the name of a Secret').describe('Its name, in the same namespace.'),
    key: dataKey.describe('The key that holds the value.'),
  })
    .describe('The key of a Secret that holds its value.')
    .optional(),
})
  .refine((it) => (it.value === undefined) !== (it.secretKeyRef === undefined), {
    error: 'either value or secretKeyRef',
  })
  .superRefine(({ name, value }, { addIssue }) => {
    const message = issueOf(name, value);
    if (message !== undefined) addIssue({ code: 'custom', path: ['value'], message });
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.value) != has(self.secretKeyRef)',
        message: 'must have either `value` or `secretKeyRef`',
      },
      {
        rule: `self.name in ['${freeVariables.join("','")}'] || (self.name.startsWith('${TRACING}') && self.name != '${variables.otlpEndpoint.name}')`,
        messageExpression:
          '"`name` must not be " + self.name + ": a field of the ImageService decides it, or it has no place in an installation"',
      },
    ],
  });

export const extraEnv = named(variable, { expected: 'a list of at most 64 variables', max: 64 });
