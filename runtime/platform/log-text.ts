/** Log lines for a person at a terminal: reads pino's JSON, writes one readable line, with an error's stack below. */
import { styleText } from 'node:util';
import { isRecord, parseAnyJson } from '../core/json.ts';
import type { LogDestination } from './log.ts';

export function textDestination(out: LogDestination): LogDestination {
  return { write: (line) => out.write(printLine(line)) };
}

type Entry = Record<string, unknown>;
const own: ReadonlySet<string> = new Set(['level', 'time', 'process', 'msg', 'error']);
const levels = {
  debug: style('dim', 'debug'),
  info: style('green', 'info '),
  warn: style('yellow', 'warn '),
  error: style('red', 'error'),
} as const;

/** Colored if stderr supports it, because lines for a person go there. */
function style(format: 'dim' | 'green' | 'yellow' | 'red', text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

function printLine(line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  const time = `${String(entry.time).slice(11, 19)}Z`;
  const fields = Object.entries(entry).filter(([name]) => !own.has(name));
  const words = [
    style('dim', time),
    levelWord(entry.level),
    String(entry.msg),
    ...fields.map(([name, value]) => style('dim', `${name}=${printValue(value)}`)),
  ];
  return `${words.join(' ')}\n${printError(entry.error, '  ')}`;
}

function parseEntry(line: string): Entry | undefined {
  const entry = parseAnyJson(line);
  return isRecord(entry) ? entry : undefined;
}

function levelWord(level: unknown): string {
  const word = Object.entries(levels).find(([name]) => name === level);
  return word === undefined ? String(level) : word[1];
}

function printValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function printError(error: unknown, indent: string): string {
  if (typeof error !== 'object' || error === null) return '';
  const { name, message, stack, cause } = error as Record<keyof Error, unknown>;
  const words = stack ?? [name, message].filter(Boolean).join(': ');
  const text = String(words).replaceAll('\n', `\n${indent}`);
  return `${indent}${text}\n${cause === undefined ? '' : printError(cause, `${indent}  `)}`;
}
