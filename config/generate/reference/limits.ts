/**
 * Tables of the constants in runtime/core/limits.ts, one per section of that file. Values come from the module;
 * sections, order and notes from its text.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as limits from '../../../runtime/core/limits.ts';
import { code, codes, table } from './markdown.ts';

const file = fileURLToPath(new URL('../../../runtime/core/limits.ts', import.meta.url));

/** Heading to table; constants below a `<heading>: decided` join the heading's table. */
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

/** The value with the unit that the constant's name states. */
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
  if (/_BYTES(_|$)/.test(name)) return printBytes(value);
  if (/_(PIXELS|PX)(_|$)/.test(name)) return printPixels(value);
  if (/_SECONDS(_|$)/.test(name)) return printSeconds(value);
  const unit = ['HOUR', 'DAY'].find((word) => name.split('_').includes(`${word}S`));
  if (unit !== undefined) return amount(value, unit.toLowerCase());
  return /_LENGTH(_|$)/.test(name) ? amount(value, 'character') : plain(value);
}

function printBytes(value: number): string {
  if (value >= MIB) return value % MIB === 0 ? `${value / MIB} MiB` : amount(value, 'byte');
  return value >= KIB && value % KIB === 0 ? `${value / KIB} KiB` : amount(value, 'byte');
}

function printPixels(value: number): string {
  return value >= 1_000_000 && value % 100_000 === 0
    ? amount(value / 1_000_000, 'megapixel')
    : amount(value, 'pixel');
}

function printSeconds(value: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const;
  const [unit, seconds] = units.find(([, size]) => value >= size && value % size === 0) ?? [
    'second',
    1,
  ];
  return amount(value / seconds, unit);
}

function amount(value: number, unit: string): string {
  return `${plain(value)} ${unit}${value === 1 ? '' : 's'}`;
}

function plain(value: number): string {
  return value.toLocaleString('en-US');
}
