/**
 * What a decided change does to a row, for people who want to see it beforehand, or what was there before a takeover.
 * Values that the change generates, such as ids and secrets, are shown in brackets. Spec: Project.
 */

export type RowDifference = {
  action: 'insert' | 'update' | 'delete';
  table: string;
  /** The name by which people know the row. */
  row: string;
  fields: readonly FieldDifference[];
};

export type FieldDifference = { field: string; from?: unknown; to: unknown };

/** A value that is unknown before it is generated. */
export class GeneratedValue {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

/** From the row to the written columns; unchanged ones are left out. */
export function fieldsOf(written: object, row: object | undefined = undefined): FieldDifference[] {
  const before = new Map(Object.entries(row ?? {}));
  return Object.entries(written)
    .map(([field, to]) =>
      row === undefined ? { field, to } : { field, from: shown(before.get(field), to), to },
    )
    .filter(({ from, to }) => row === undefined || print(from) !== print(to));
}

/** Generated values are mostly secrets, and so are the values that they replace. */
function shown(from: unknown, to: unknown): unknown {
  return to instanceof GeneratedValue && from != null ? new GeneratedValue('the one before') : from;
}

/** The contents of a row that is deleted. */
export function deletedFields(written: object): FieldDifference[] {
  return Object.entries(written).map(([field, from]) => ({ field, from, to: null }));
}

/** How a plan's lines begin. */
export const SIGNS = { insert: '+', update: '~', delete: '-' } as const;

/** One line per row. */
export function printDifference({ action, table, row, fields }: RowDifference): string {
  const head = `${SIGNS[action]} ${table} ${row}`;
  if (fields.length === 0 || action === 'delete') return head;
  const printed = fields.map(({ field, ...values }) => {
    const [from, to] = [values.from, values.to].map((value) => print(hideSecretPath(field, value)));
    return action === 'insert' ? `${field}: ${to}` : `${field}: ${from} → ${to}`;
  });
  return `${head} { ${printed.join(', ')} }`;
}

/**
 * The path of a callback URL may be a secret, and everyone who may read resources can read this.
 */
function hideSecretPath(field: string, value: unknown): unknown {
  if (field !== 'callback_url' || typeof value !== 'string' || value === '') return value;
  const { origin, href } = new URL(value);
  return href === `${origin}/` ? value : `${origin}/…`;
}

function print(value: unknown): string {
  if (value instanceof GeneratedValue) return `(${value.words})`;
  if (value instanceof Date) return value.toISOString();
  return JSON.stringify(value ?? null);
}

/** Said of changes to rows although the same declaration was in effect before. */
export const UNDONE = 'undid changes that somebody else had made';

/**
 * Changes that time, or the deletion of another resource, makes due: key rotation, a default that
 * is no longer declared.
 */
const DUE: readonly string[] = ['rotate', 'drop-watermark'];

/** Whether there are changes for which only somebody else can be the cause. */
export function hasUndone(changes: readonly string[]): boolean {
  return changes.some((change) => !DUE.includes(change));
}

/** As the beginning of a sentence. */
export function countChanges(count: number): string {
  return count === 1 ? '1 change is' : `${count} changes are`;
}

/** The length limit of a condition's message. */
const MESSAGE_LENGTH_MAX = 32_768;

/** One per line, as many as a condition's message can hold, and the number of the others. */
export function joinLines(lines: readonly string[]): string {
  let message = '';
  for (const [index, line] of lines.entries()) {
    const rest = `… and ${lines.length - index} more`;
    if (message.length + line.length + rest.length + 2 > MESSAGE_LENGTH_MAX) return message + rest;
    message += index === lines.length - 1 ? line : `${line}\n`;
  }
  return message;
}
