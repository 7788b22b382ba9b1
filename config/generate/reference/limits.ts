/**
 * Tables of the constants of runtime/core/limits.ts, one a section of that file. Values come from the module;
 * sections, order and notes from its text.
 */
import { readFileSync } from 'node:fs';
import * as limits from '../../../runtime/core/limits.ts';
import { code, codes, table } from './markdown.ts';

const file = new URL('../../../runtime/core/limits.ts', import.meta.url).pathname;

/** Heading to table; what a heading has decided besides stands in the same table. */
export function limitTables(): Map<string, string> {
  const rows = new Map<string, string[][]>();
  let heading = '';
  for (const { groups = {} } of readFileSync(file, 'utf8').matchAll(ENTRY)) {
    if (groups['heading'] !== undefined) heading = groups['heading'].replace(/: decided$/, '');
    const { name, note } = groups;
    if (name === undefined) continue;
    rows.set(heading, [
      ...(rows.get(heading) ?? []),
      [code(name), printLimit(name), printNote(note ?? '')],
    ]);
  }
  const head = ['constant', 'value', 'note'];
  return new Map([...rows].map(([title, found]) => [title, table(head, found)]));
}

/** A section's comment, or an exported constant with the doc comment before it. */
const ENTRY =
  /^\/\/ (?<heading>.+)$|^(?:\/\*\* (?<note>[^*]*) \*\/\n)?export const (?<name>[A-Z0-9_]+)/gm;

function printNote(note: string): string {
  const words = note.replace(/^Decided:?\.? ?/, '').replace(/ ?Spec: .*$/, '');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The value with the unit that its name carries. */
export function printLimit(name: string): string {
  const value = new Map<string, unknown>(Object.entries(limits)).get(name);
  if (value === undefined) throw new Error(`limits.ts exports no ${name}`);
  if (Array.isArray(value)) return value.map((each) => printNumber(name, each)).join(', ');
  if (typeof value === 'number') return printNumber(name, value);
  if (value instanceof RegExp) return code(value.source);
  return typeof value === 'object' && value !== null
    ? codes(Object.entries(value).map(([unit, bytes]) => `${unit} = ${bytes}`))
    : code(String(value));
}

const KIB = 1024;
const MIB = 1024 * KIB;

function printNumber(name: string, value: number): string {
  if (/_BYTES(_|$)/.test(name) && name !== 'CALLBACK_SECRET_BYTES') return printBytes(value);
  if (/_(PIXELS|PX)(_|$)/.test(name)) return printPixels(value);
  if (/_SECONDS(_|$)/.test(name)) return printSeconds(value);
  const unit = ['HOURS', 'DAYS'].find((word) => name.split('_').includes(word));
  if (unit !== undefined) return `${plain(value)} ${unit.toLowerCase()}`;
  return /_LENGTH(_|$)/.test(name) ? `${plain(value)} characters` : plain(value);
}

function printBytes(value: number): string {
  if (value >= MIB && value % MIB === 0) return `${value / MIB} MiB`;
  return value >= KIB && value % KIB === 0 ? `${value / KIB} KiB` : `${plain(value)} bytes`;
}

function printPixels(value: number): string {
  return value >= 1_000_000 && value % 100_000 === 0
    ? `${value / 1_000_000} megapixels`
    : `${plain(value)} pixels`;
}

function printSeconds(value: number): string {
  const units = [
    ['days', 86_400],
    ['hours', 3600],
    ['minutes', 60],
  ] as const;
  const [unit, seconds] = units.find(([, size]) => value > size && value % size === 0) ?? ['s', 1];
  return `${plain(value / seconds)} ${unit}`;
}

function plain(value: number): string {
  return value.toLocaleString('en-US');
}
