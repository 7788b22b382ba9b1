/** Tables of error codes: one per surface, by status. */
import { browserClientErrors } from '../../../runtime/core/browser-client-errors.ts';
import {
  apiErrors,
  deliveryErrors,
  type ErrorRow,
  type HelperErrorRow,
  helperErrors,
  processingErrors,
  verifierReasons,
} from '../../../runtime/core/errors.ts';
import { code, codes, table } from './markdown.ts';

export function apiErrorTable(): string {
  return codeTable(apiErrors);
}

export function deliveryErrorTable(): string {
  return codeTable(deliveryErrors);
}

export function processingErrorTable(): string {
  const rows = Object.entries(processingErrors).map(([name, { message }]) => [page(name), message]);
  return table(['error_code', 'what to do'], rows);
}

export function helperErrorTable(): string {
  const rows = Object.entries<HelperErrorRow>(helperErrors).map(([name, row]) => [
    [...(row.statuses ?? []), ...(row.or_custom ? ['custom'] : [])].join(' or '),
    page(name),
    row.message,
    carried(row),
  ]);
  return table(['status', 'code', 'message', 'carries'], rows);
}

export function browserClientErrorTable(): string {
  return wordTable('code', browserClientErrors);
}

export function verifierReasonTable(): string {
  return wordTable('reason', verifierReasons);
}

function codeTable(errors: Record<string, ErrorRow>): string {
  const rows = Object.entries(errors)
    .toSorted(([, one], [, other]) => one.status - other.status)
    .map(([name, row]) => [String(row.status), page(name), row.message, carried(row)]);
  return table(['status', 'code', 'message', 'carries'], rows);
}

function carried({ details, retry_after }: Pick<ErrorRow, 'details' | 'retry_after'>): string {
  const fields = details === undefined ? [] : [`details ${codes(details)}`];
  return [...fields, ...(retry_after ? ['Retry-After'] : [])].join('; ');
}

function wordTable(head: string, words: Record<string, string>): string {
  const rows = Object.entries(words).map(([name, message]) => [page(name), message]);
  return table([head, 'meaning'], rows);
}

/** The code, as a link to its page. */
function page(name: string): string {
  return `[${code(name)}](../errors/${name}.md)`;
}
