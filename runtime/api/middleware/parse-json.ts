/** The body as JSON, in UTF-8; undefined where none was sent. Spec: Codes by status (invalid_json). */
import { ServiceError } from '../../core/errors.ts';

export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return JSON.parse(text, refusePrototype);
  } catch (cause) {
    throw new ServiceError('invalid_json', { cause });
  }
}

// A key that would reach an object's prototype has no honest use.
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('the key __proto__ is refused');
  return value;
}
