/**
 * What a decided change does to a row, for people who want to see it before it is done, or what was there before it was
 * taken over. Values that are made in the doing, such as ids and secrets, are said in brackets. Spec: Project.
 */

export type RowDifference = {
  action: 'insert' | 'update' | 'delete';
  table: string;
  /** What people know the row by. */
  row: string;
  fields: readonly FieldDifference[];
};

export type FieldDifference = { field: string; from?: unknown; to: unknown };

/** A value that is not known before it is made. */
export class Made {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

/** From the row to what is written, of the columns that are written; those that stay the same are left out. */
export function fieldsOf(written: object, row: object | undefined = undefined): FieldDifference[] {
  const before = new Map(Object.entries(row ?? {}));
  return Object.entries(written)
    .map(([field, to]) =>
      row === undefined ? { field, to } : { field, from: shown(before.get(field), to), to },
    )
    .filter(({ from, to }) => row === undefined || print(from) !== print(to));
}

/** What is made in the doing is mostly secret, and so is what was there before it. */
function shown(from: unknown, to: unknown): unknown {
  return to instanceof Made && from != null ? new Made('the one before') : from;
}

/** Of a row that goes: what was in it. */
export function fieldsThatGo(written: object): FieldDifference[] {
  return Object.entries(written).map(([field, from]) => ({ field, from, to: null }));
}

const SIGNS = { insert: '+', update: '~', delete: '-' } as const;

/** One line a row. */
export function printDifference({ action, table, row, fields }: RowDifference): string {
  const head = `${SIGNS[action]} ${table} ${row}`;
  if (fields.length === 0 || action === 'delete') return head;
  const printed = fields.map(({ field, ...values }) => {
    const [from, to] = [values.from, values.to].map((value) => print(spoken(field, value)));
    return action === 'insert' ? `${field}: ${to}` : `${field}: ${from} → ${to}`;
  });
  return `${head} { ${printed.join(', ')} }`;
}

/** What stands behind the host of a callback may be a secret, and who reads resources reads this. */
function spoken(field: string, value: unknown): unknown {
  if (field !== 'callback_url' || typeof value !== 'string' || value === '') return value;
  const { origin, href } = new URL(value);
  return href === `${origin}/` ? value : `${origin}/…`;
}

function print(value: unknown): string {
  if (value instanceof Made) return `(${value.words})`;
  if (value instanceof Date) return value.toISOString();
  return JSON.stringify(value ?? null);
}

/** As the beginning of a sentence. */
export function countChanges(count: number): string {
  return count === 1 ? '1 change is' : `${count} changes are`;
}

/** What the message of a condition may hold. */
const MESSAGE_LENGTH_MAX = 32_768;

/** One a line, as many as a condition may hold, and how many more there are. */
export function joinLines(lines: readonly string[]): string {
  let message = '';
  for (const [index, line] of lines.entries()) {
    const rest = `… and ${lines.length - index} more`;
    if (message.length + line.length + rest.length + 2 > MESSAGE_LENGTH_MAX) return message + rest;
    message += index === lines.length - 1 ? line : `${line}\n`;
  }
  return message;
}
