/**
 * Fields that the name of the resource stands for where they are left out. Kubernetes takes names of 253 characters, so
 * one may be too long for it: the API server refuses that, and the operator what was stored before. Spec: Project;
 * Watermark preset; Recipe.
 */
import {
  FILE_SLUG_LENGTH_MAX,
  NAME_LENGTH_MAX,
  PROJECT_SLUG_LENGTH_MAX,
} from '../runtime/core/limits.ts';
import type { Rule } from './kinds.ts';

const LENGTHS = { displayName: NAME_LENGTH_MAX, fileSlug: FILE_SLUG_LENGTH_MAX } as const;

type Field = keyof typeof LENGTHS;

/** Which of its fields have to be set, in words; undefined where the name may stand for those that are not. */
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

/** A name of Kubernetes may have dots besides. */
export const defaultSlugRule = ruleFor(
  'slug',
  `self.metadata.name.matches('^[a-z0-9-]{1,${PROJECT_SLUG_LENGTH_MAX}}$')`,
  sayNeed(`is no DNS label of at most ${PROJECT_SLUG_LENGTH_MAX} characters`),
);

function ruleFor(field: string, isFitting: string, need: string): Rule {
  // Of what was stored before there was the rule, a status and the end of a finalizer must still be taken.
  const isOld = `oldSelf.hasValue() && !has(oldSelf.value().spec.${field})`;
  return {
    rule: `has(self.spec.${field}) || ${isFitting} || (${isOld})`,
    optionalOldSelf: true,
    fieldPath: `.spec.${field}`,
    message: `must be ${need}`,
  };
}

function printNeed(field: Field): string {
  return sayNeed(`has more than ${LENGTHS[field]} characters`);
}

function sayNeed(unfit: string): string {
  return `set where \`metadata.name\`, which stands for it, ${unfit}`;
}
