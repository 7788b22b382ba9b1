/**
 * Fields that default to the name of the resource. Kubernetes allows names of 253 characters, so the name may be too
 * long for the field: the API server refuses that, and the operator refuses resources stored before the rule. Spec:
 * Project; Watermark preset; Recipe.
 */
import {
  FILE_SLUG_LENGTH_MAX,
  NAME_LENGTH_MAX,
  PROJECT_SLUG_LENGTH_MAX,
} from '../runtime/core/limits.ts';
import type { Rule } from './kinds.ts';

const LENGTHS = { displayName: NAME_LENGTH_MAX, fileSlug: FILE_SLUG_LENGTH_MAX } as const;

type Field = keyof typeof LENGTHS;

/** Which fields must be set, in words; undefined if the name is valid for all that are left out. */
export function refuseDefaults(
  { name }: { name: string },
  spec: Readonly<Partial<Record<Field, string | undefined>>>,
  fields: readonly Field[],
): string | undefined {
  const lines = fields
    .filter((field) => spec[field] === undefined && name.length > LENGTHS[field])
    .map((field) => `\`spec.${field}\`: ${printNeed(field)}`);
  return lines.length === 0 ? undefined : lines.join('; ');
}

export function defaultNameRule(field: Field): Rule {
  return ruleFor(field, `size(self.metadata.name) <= ${LENGTHS[field]}`, printNeed(field));
}

/** Unlike a slug, a Kubernetes name may contain dots. */
export const defaultSlugRule = ruleFor(
  'slug',
  `self.metadata.name.matches('^[a-z0-9-]{1,${PROJECT_SLUG_LENGTH_MAX}}$')`,
  describeNeed(`is not a DNS label of at most ${PROJECT_SLUG_LENGTH_MAX} characters`),
);

function ruleFor(field: string, isFitting: string, need: string): Rule {
  // A resource stored before this rule must still accept a new status and the removal of its
  // finalizer.
  const isOld = `oldSelf.hasValue() && !has(oldSelf.value().spec.${field})`;
  return {
    rule: `has(self.spec.${field}) || ${isFitting} || (${isOld})`,
    optionalOldSelf: true,
    fieldPath: `.spec.${field}`,
    message: `must be ${need}`,
  };
}

function printNeed(field: Field): string {
  return describeNeed(`has more than ${LENGTHS[field]} characters`);
}

function describeNeed(unfit: string): string {
  return `set where \`metadata.name\`, which stands for it, ${unfit}`;
}
