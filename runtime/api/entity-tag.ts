/**
 * Conditional writes: every project, preset and recipe is answered with an ETag, and a PATCH or PUT that sends one as
 * If-Match is refused where the record is another by now. Ours, beside Spec: Conventions.
 */
import { createHash } from 'node:crypto';
import { ServiceError } from '../core/errors.ts';

const TAG_LENGTH = 27;

/** A hash of a record as it is answered, without the fields that move by themselves or are answered once. */
export function entityTag(record: object, moving: readonly string[]): string {
  const settings = Object.entries(record).filter(([name]) => !moving.includes(name));
  const text = JSON.stringify(settings.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH)}"`;
}

/** Throws precondition_failed where If-Match was sent and names no tag of the present record. */
export function requireMatch(ifMatch: string | undefined, current: string | undefined): void {
  if (ifMatch === undefined) return;
  const wanted = ifMatch.split(',').map((tag) => tag.trim());
  const isMet = current !== undefined && (wanted.includes('*') || wanted.includes(current));
  if (!isMet) throw new ServiceError('precondition_failed');
}
