/**
 * What is wrong with JSON that two readers could take for different things: a key that stands twice in one object, one
 * that reaches an object's prototype, or depth without end. Spec: Codes by status (invalid_json).
 */
import { cutText } from './text.ts';

const DEPTH_MAX = 64;

/**
 * Where objects and lists begin and end, and strings, with the colon that makes one a key. A string that does not end,
 * which JSON has not, ends with the text: looked for from each of its quotes anew, its end would cost whoever reads a
 * stranger's token seconds.
 */
const TOKEN = /[{}[\]]|"([^"\\]*(?:\\[\s\S][^"\\]*)*)(?:"(\s*:)?|\\?$)/g;

/** What is unclear in a text that is JSON, or undefined; of any other text nothing is said. */
export function findUnclearJson(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, written = '', colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    const fault = colon === undefined ? undefined : faultOfKey(readKey(written), open.at(-1));
    if (fault !== undefined) return fault;
    if (open.length > DEPTH_MAX) return `nothing may be nested deeper than ${DEPTH_MAX}`;
  }
  return undefined;
}

/** What is no string of JSON stands as it was written: such a text is none, and its reader says so. */
function readKey(written: string): string {
  if (!written.includes('\\')) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return written;
  }
}

function faultOfKey(key: string, known: Set<string> | undefined): string | undefined {
  if (key === '__proto__') return 'no key may be __proto__';
  if (known?.has(key)) return `the key ${shown(key)} stands twice in one object`;
  known?.add(key);
  return undefined;
}

const KEY_SHOWN_MAX = 64;
const shown = (key: string) => JSON.stringify(cutText(key, KEY_SHOWN_MAX));
