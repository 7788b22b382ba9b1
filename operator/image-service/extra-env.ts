/**
 * The variables that an ImageService may set by name in `extraEnv`: those of the configuration that no field of it
 * decides. What a field decides, or what is for tests, may not be set behind its back.
 */
import type { ConfigField } from '../../runtime/platform/config.ts';
import { variables } from '../../runtime/platform/config-variables.ts';
import { group, named, text } from '../fields.ts';
import { dataKey, objectName } from './fields.ts';

const free: readonly ConfigField[] = [
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
  'callbackEgress',
];

/** Variables that fields decide, or that have no place in an installation. */
export const takenVariables: readonly string[] = Object.entries(variables)
  .filter(([field]) => !free.some((name) => name === field))
  .map(([, { name }]) => name);

const expected =
  'the name of a variable that begins with TINTYPE_ or OTEL_EXPORTER_OTLP_, and that no field decides';

const variable = group('{ name, value } or { name, secretKeyRef }', {
  name: text(expected, { max: 64, pattern: /^(TINTYPE|OTEL_EXPORTER_OTLP)_[A-Z0-9_]+$/ })
    .refine((name) => !takenVariables.includes(name), { error: expected })
    .describe('The variable, as the documentation of the configuration names it.'),
  value: text('a text', { min: 0, max: 4096 }).describe('Its value.').optional(),
  secretKeyRef: group('{ name, key }', {
    name: objectName('Secret').describe('Name of the Secret, in the same namespace.'),
    key: dataKey.describe('The key that holds the value.'),
  })
    .describe('The key of a Secret that holds its value.')
    .optional(),
})
  .refine((it) => (it.value === undefined) !== (it.secretKeyRef === undefined), {
    error: 'either value or secretKeyRef',
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.value) != has(self.secretKeyRef)',
        message: 'must have either `value` or `secretKeyRef`',
      },
      {
        rule: `!(self.name in [${takenVariables.map((name) => `'${name}'`).join(',')}])`,
        messageExpression:
          '"`name` must not be " + self.name + ": a field of the ImageService decides it, or it has no place in an installation"',
      },
    ],
  });

export const extraEnv = named(variable, { expected: 'a list of at most 64 variables', max: 64 });
