/**
 * The body as JSON, in UTF-8; undefined where none was sent. What two readers could take for different things is no
 * JSON of ours: a key that stands twice in one object, one that reaches an object's prototype, or depth without end.
 * Spec: Codes by status (invalid_json).
 */
import { ServiceError } from '../../core/errors.ts';

export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    refuseUnclear(text);
    return value;
  } catch (cause) {
    const because = cause instanceof UnclearJson ? { message: cause.message } : {};
    throw new ServiceError('invalid_json', { ...because, cause });
  }
}

class UnclearJson extends SyntaxError {}

const DEPTH_MAX = 64;

/** In a text that is JSON: where objects and lists begin and end, and strings, with the colon that makes one a key. */
const TOKEN = /[{}[\]]|"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g;

function refuseUnclear(text: string): void {
  const open: Set<string>[] = [];
  for (const [token, written = '', colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) refuseUnclearKey(readKey(written), open.at(-1));
    if (open.length > DEPTH_MAX) throw unclear(`nothing may be nested deeper than ${DEPTH_MAX}`);
  }
}

function readKey(written: string): string {
  return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
}

function refuseUnclearKey(key: string, known: Set<string> | undefined): void {
  if (key === '__proto__') throw unclear('no key may be __proto__');
  if (known?.has(key)) throw unclear(`the key ${shown(key)} stands twice in one object`);
  known?.add(key);
}

function unclear(why: string): UnclearJson {
  return new UnclearJson(`The body cannot be read without doubt: ${why}.`);
}

const KEY_SHOWN_MAX = 64;
const shown = (key: string) => JSON.stringify(key.slice(0, KEY_SHOWN_MAX));
