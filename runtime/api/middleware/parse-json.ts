/**
 * Parses the body as UTF-8 JSON; undefined if no body was sent. What is too large for every schema is refused before it
 * is parsed. Spec: Codes by status (invalid_json, invalid_request).
 */
import { ServiceError } from '../../core/errors.ts';
import { wrongInput } from '../../core/input-issue.ts';
import { findJsonFault, type JsonFault, type JsonKeys } from '../../core/unclear-json.ts';

type Terms = { values_max: number; keys: JsonKeys };

/**
 * Throws invalid_json, and invalid_request if the body has more than this number of values. With
 * `any` keys, the last of equal ones counts, and `__proto__` is left out.
 */
export function parseJson(bytes: Buffer, { values_max, keys }: Terms): unknown {
  if (bytes.length === 0) return undefined;
  const text = validJson(() => UTF8.decode(bytes));
  const fault = findJsonFault(text, values_max, keys);
  if (fault !== undefined) throw refusalOf(fault);
  return validJson(() =>
    keys === 'clear' ? JSON.parse(text) : JSON.parse(text, withoutPrototype),
  );
}

/** For JSON.parse: a field without a value is removed. */
function withoutPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}

/** Keeps a byte order mark, which JSON does not allow. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function validJson<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new ServiceError('invalid_json', { cause });
  }
}

function refusalOf({ is, what }: JsonFault): ServiceError {
  if (is === 'large') return wrongInput({ path: '', message: `expected ${what}` });
  return new ServiceError('invalid_json', { message: `The body could be misread: ${what}.` });
}
