/**
 * Finds, before a JSON text is parsed, what two readers could interpret differently (a key that occurs twice in one
 * object, a key that reaches an object's prototype, unlimited depth), and what no reader of ours can use: objects with
 * too many fields, and too many values. Parsing and checking those would take a hundred times longer than finding them.
 * Spec: Codes by status (invalid_json, invalid_request).
 */
import { cutText } from './cut-text.ts';
import { JSON_DEPTH_MAX, JSON_FIELDS_MAX } from './limits.ts';

/** `unclear`: two readers could differ; `large`: more than there is to say. */
export type JsonFault = { is: 'unclear' | 'large'; what: string };

/** `any`: also keys that are unclear, such as those of another service that signed what it sends. */
export type JsonKeys = 'clear' | 'any';

/**
 * The first fault of a JSON text, or undefined; any other text has either result. Takes time that is linear in the
 * length, also for a string that does not end. `values_max` counts every field and item, and empty objects and lists
 * twice.
 */
export function findJsonFault(
  text: string,
  values_max = Number.POSITIVE_INFINITY,
  keys: JsonKeys = 'clear',
): JsonFault | undefined {
  const open: Set<string>[] = [];
  let [values, strings] = [1, 0];
  let fault: JsonFault | undefined;
  const token = new RegExp(TOKEN);
  while (fault === undefined && token.test(text)) {
    const at = token.lastIndex - 1;
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at);
        strings += 1;
        // A value has one key at most: with more strings it is not JSON, and soon refused as such.
        if (strings > 2 * values_max) return undefined;
        if (isKey(text, end)) fault = faultOfKey(text.slice(at + 1, end), open.at(-1), keys);
        token.lastIndex = end + 1;
        break;
      }
      case '{':
      case '[':
        open.push(new Set());
        values += 1;
        fault = faultOfSize({ depth: open.length, values, values_max });
        break;
      case ',':
        values += 1;
        fault = faultOfSize({ depth: open.length, values, values_max });
        break;
      default:
        if (open.pop() === undefined) return undefined;
    }
  }
  return fault;
}

/** Searched for, as most of a long text is neither. */
const TOKEN = /["{}[\],]/g;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

type Size = { depth: number; values: number; values_max: number };

function faultOfSize({ depth, values, values_max }: Size): JsonFault | undefined {
  if (depth > JSON_DEPTH_MAX)
    return unclear(`it may not be nested deeper than ${JSON_DEPTH_MAX} levels`);
  if (values <= values_max) return undefined;
  return { is: 'large', what: `at most ${values_max} values in all` };
}

/** Where the quote that ends a string is, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Whether an odd number of backslashes is before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

/** Whether a colon follows the string that ends here; below the space, only JSON's own blanks can. */
function isKey(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= SPACE) at += 1;
  return text.charCodeAt(at) === COLON;
}

function faultOfKey(
  written: string,
  known: Set<string> | undefined,
  keys: JsonKeys,
): JsonFault | undefined {
  const key = readKey(written);
  if (keys === 'clear') {
    if (key === '__proto__') return unclear('__proto__ is not allowed as a key');
    if (known?.has(key)) return unclear(`the key ${shown(key)} occurs twice in one object`);
  }
  known?.add(key);
  if (known === undefined || known.size <= JSON_FIELDS_MAX) return undefined;
  return { is: 'large', what: `at most ${JSON_FIELDS_MAX} fields in one object` };
}

/** An invalid JSON string is returned as written: the parser of the text will report it. */
function readKey(written: string): string {
  if (!written.includes('\\')) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return written;
  }
}

const unclear = (what: string): JsonFault => ({ is: 'unclear', what });

const KEY_SHOWN_MAX = 64;
const shown = (key: string) => JSON.stringify(cutText(key, KEY_SHOWN_MAX));
