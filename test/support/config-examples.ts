/** The documented example of each variable, with a secret where the document has none. */
import { createHash } from 'node:crypto';
import {
  RANDOM_KEY,
  RANDOM_SECRET,
  type Variable,
  variables,
} from '../../runtime/platform/config-variables.ts';

/** By name of the variable. The secrets are the same in each run, and no two are equal. */
export const configExamples: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values<Variable>(variables).map(({ name, example }) => {
    const made = createHash('sha256').update(name);
    if (example === RANDOM_SECRET || example.startsWith('<')) return [name, made.digest('hex')];
    return [name, example.replace(RANDOM_KEY, made.digest('base64'))];
  }),
);
