/** The schema of a field that holds a number of bytes, in Kubernetes notation. */
import { checked, matching, text } from './fields.ts';
import { BYTES_END, readBytes } from './quantity.ts';

const AMOUNT_LENGTH_MAX = 20;

/**
 * Bytes with a unit, which the API server compares as a quantity; `min` 0 also allows an empty
 * value.
 */
export function bytes(expected: string, { min = 1, pattern }: { min?: 0 | 1; pattern: RegExp }) {
  const words = `${expected}, less than ${BYTES_END}`;
  const rule = `${matching(pattern)} && quantity(self).isLessThan(quantity('${BYTES_END}'))`;
  return text(words, { min, max: AMOUNT_LENGTH_MAX })
    .refine((amount) => isAmount(amount, pattern) || (min === 0 && amount === ''), { error: words })
    .meta(checked(min === 0 ? `self == '' || (${rule})` : rule, words));
}

function isAmount(amount: string, pattern: RegExp): boolean {
  return pattern.test(amount) && readBytes(amount) !== undefined;
}
