/**
 * Parses the body as UTF-8 JSON; undefined if no body was sent. What is too large for every schema is refused before it
 * is parsed. Spec: Codes by status (invalid_json, invalid_request).
 */
import { ServiceError } from '../../core/errors.ts';
import { wrongInput } from '../../core/input-issue.ts';
import { findJsonFault, type JsonFault } from '../../core/unclear-json.ts';

/** Throws invalid_json, and invalid_request if the body has more than this number of values. */
export function parseJson(bytes: Buffer, values_max: number): unknown {
  if (bytes.length === 0) return undefined;
  const text = validJson(() => UTF8.decode(bytes));
  const fault = findJsonFault(text, values_max);
  if (fault !== undefined) throw refusalOf(fault);
  return validJson(() => JSON.parse(text));
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
