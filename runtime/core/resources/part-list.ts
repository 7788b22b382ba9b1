/**
 * The list of parts that completes a multipart upload: every number from 1 to N once, each with its ETag. A refusal
 * says which numbers are wrong, and how. Spec: Upload session (status), a multipart complete.
 */
import { ServiceError } from '../errors.ts';
import type { InputIssue } from '../input-issue.ts';
import { isRecord } from '../json.ts';
import { ETAG_LENGTH_MAX, MULTIPART_PARTS_MAX } from '../limits.ts';

/** A sent part, with the ETag of the storage's response. */
export type SentPart = { part_number: number; etag: string };

/** What is wrong with a list; the lists of faults are limited in length. */
export type PartFaults = {
  part_count: number;
  missing: number[];
  doubled: number[];
  unknown: number[];
  issues: InputIssue[];
};

const ETAG = new RegExp(`^[\\x20-\\x7e]{1,${ETAG_LENGTH_MAX}}$`);
/** The list as documented in the API contract. */
export const sentPartList = {
  type: 'array',
  maxItems: MULTIPART_PARTS_MAX,
  items: {
    type: 'object',
    properties: {
      part_number: { type: 'integer', minimum: 1, maximum: MULTIPART_PARTS_MAX },
      etag: { type: 'string', pattern: ETAG.source },
    },
    required: ['part_number', 'etag'],
    additionalProperties: false,
  },
} as const;
const EXPECTED = `expected { part_number: 1 to N, etag: 1 to ${ETAG_LENGTH_MAX} characters of ASCII } and nothing else`;
const FAULTS_MAX = 100;
const FAULTS_SAID_MAX = 10;

/**
 * The parts of a complete call, ordered by number. Throws invalid_parts unless the list is complete
 * and valid.
 */
export function parseParts(parts: unknown, partCount: number): SentPart[] {
  const entries: unknown[] = Array.isArray(parts) ? parts : [];
  const read = entries.map(readPart);
  const faults = findFaults(entries, partCount);
  if (!Array.isArray(parts)) {
    faults.issues.push({ path: 'parts', message: 'expected a list of { part_number, etag }' });
  }
  for (const [at, part] of read.entries()) {
    if (part === undefined) faults.issues.push({ path: `parts[${at}]`, message: EXPECTED });
  }
  const said = describeFaults(faults);
  if (said !== '') throw refuseParts(faults, said);
  return read
    .filter((part) => part !== undefined)
    .toSorted((left, right) => left.part_number - right.part_number);
}

/** The refusal of a valid list that the storage does not accept. */
export function refusePartsOfStorage(
  partCount: number,
  said: string,
  cause: unknown,
): ServiceError {
  const message = `Storage does not have these parts with these ETags: ${said}. Send what is missing again, and list each part with the ETag of its latest PUT; the upload can still be completed.`;
  return new ServiceError('invalid_parts', { message, details: findNone(partCount), cause });
}

function findNone(part_count: number): PartFaults {
  return { part_count, missing: [], doubled: [], unknown: [], issues: [] };
}

/** Uses only the numbers: an otherwise invalid entry still names its part. */
function findFaults(entries: readonly unknown[], partCount: number): PartFaults {
  const counts = new Map<number, number>();
  for (const entry of entries) {
    const number = isRecord(entry) ? entry['part_number'] : undefined;
    if (typeof number === 'number') counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  const wanted = Array.from({ length: partCount }, (_, at) => at + 1);
  const isWanted = (number: number) =>
    Number.isInteger(number) && number >= 1 && number <= partCount;
  return {
    ...findNone(partCount),
    missing: wanted.filter((number) => !counts.has(number)),
    doubled: wanted.filter((number) => (counts.get(number) ?? 0) > 1),
    unknown: [...counts.keys()].filter((number) => !isWanted(number)),
  };
}

/** By hand: a schema would take a hundred times longer for each of many wrong entries. */
function readPart(entry: unknown): SentPart | undefined {
  if (!isRecord(entry) || Object.keys(entry).length !== 2) return undefined;
  const { part_number, etag } = entry;
  if (typeof part_number !== 'number' || !Number.isSafeInteger(part_number)) return undefined;
  return typeof etag === 'string' && ETAG.test(etag) ? { part_number, etag } : undefined;
}

function refuseParts({ part_count, ...faults }: PartFaults, said: string): ServiceError {
  const shown = Object.entries(faults).map(([name, list]) => [name, list.slice(0, FAULTS_MAX)]);
  const details = { part_count, ...faults, ...Object.fromEntries(shown) };
  const message = `${said}. This upload has ${part_count} parts: list each of 1 to ${part_count} once, with the ETag that storage returned; the upload can still be completed.`;
  return new ServiceError('invalid_parts', { message, details });
}

/** Empty if nothing is wrong. */
function describeFaults({ missing, doubled, unknown, issues }: PartFaults): string {
  const said = [
    ...describeFault('Missing from the list', missing),
    ...describeFault('listed more than once', doubled),
    ...describeFault('not of this upload', unknown),
    ...describeFault(
      'not readable',
      issues.map(({ path }) => path),
    ),
  ].join('; ');
  return said.slice(0, 1).toUpperCase() + said.slice(1);
}

function describeFault(what: string, list: readonly (number | string)[]): string[] {
  if (list.length === 0) return [];
  const more = list.length - FAULTS_SAID_MAX;
  const names = list.slice(0, FAULTS_SAID_MAX).join(', ');
  return [`${what}: ${names}${more > 0 ? ` and ${more} more` : ''}`];
}
