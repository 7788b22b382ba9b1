/**
 * Conditional writes: every project, preset and recipe is answered with an ETag. A PATCH or PUT that sends it as
 * If-Match is refused if the record has changed since. Our addition to Spec: Conventions.
 */
import { createHash } from 'node:crypto';
import { ServiceError } from '../core/errors.ts';

const TAG_LENGTH = 27;

/** A hash of a record as answered, without fields that change by themselves or appear only once. */
export function entityTag(record: object, moving: readonly string[]): string {
  const settings = Object.entries(record).filter(([name]) => !moving.includes(name));
  const text = JSON.stringify(settings.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH)}"`;
}

/** Throws precondition_failed if If-Match was sent and does not match the current record. */
export function requireMatch(ifMatch: string | undefined, current: string | undefined): void {
  if (ifMatch === undefined) return;
  const wanted = ifMatch.split(',').map((tag) => tag.trim());
  const isMet = current !== undefined && (wanted.includes('*') || wanted.includes(current));
  if (!isMet) throw new ServiceError('precondition_failed');
}
