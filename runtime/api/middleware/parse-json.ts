/** Parses the body as UTF-8 JSON; undefined if no body was sent. Spec: Codes by status (invalid_json). */
import { ServiceError } from '../../core/errors.ts';
import { findUnclearJson } from '../../core/unclear-json.ts';

export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const { text, value } = read(bytes);
  const unclear = findUnclearJson(text);
  if (unclear === undefined) return value;
  const message = `The body could be misread: ${unclear}.`;
  throw new ServiceError('invalid_json', { message });
}

function read(bytes: Buffer): { text: string; value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch (cause) {
    throw new ServiceError('invalid_json', { cause });
  }
}
