/**
 * Finds JSON that two readers could interpret differently: a key that occurs twice in one object, a key that reaches an
 * object's prototype, or unlimited depth. Spec: Codes by status (invalid_json).
 */
import { cutText } from './text.ts';

const DEPTH_MAX = 64;

/**
 * Matches the beginning and end of objects and lists, and strings, with the colon that makes a
 * string a key. An unterminated string, invalid in JSON, extends to the end of the text: searching
 * for its end again from each of its quotes would cost seconds for a stranger's token.
 */
const TOKEN = /[{}[\]]|"([^"\\]*(?:\\[\s\S][^"\\]*)*)(?:"(\s*:)?|\\?$)/g;

/** What is unclear in a JSON text, or undefined; for any other text the result means nothing. */
export function findUnclearJson(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, written = '', colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    const fault = colon === undefined ? undefined : faultOfKey(readKey(written), open.at(-1));
    if (fault !== undefined) return fault;
    if (open.length > DEPTH_MAX) return `it may not be nested deeper than ${DEPTH_MAX} levels`;
  }
  return undefined;
}

/**
 * An invalid JSON string is returned as written: the text is then not JSON, and its parser reports
 * that.
 */
function readKey(written: string): string {
  if (!written.includes('\\')) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return written;
  }
}

function faultOfKey(key: string, known: Set<string> | undefined): string | undefined {
  if (key === '__proto__') return '__proto__ is not allowed as a key';
  if (known?.has(key)) return `the key ${shown(key)} occurs twice in one object`;
  known?.add(key);
  return undefined;
}

const KEY_SHOWN_MAX = 64;
const shown = (key: string) => JSON.stringify(cutText(key, KEY_SHOWN_MAX));
