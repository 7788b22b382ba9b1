/**
 * Notes that somebody took off a Project by replacing it with a manifest that has none. They are kept until they stand
 * there again, also while others lead: the Secrets that they name are never listed, so nothing else tells of them.
 */
import { hasNote, namesOf } from './callback-secret.ts';
import type { TenantChange } from './object-caches.ts';
import type { TenantObject } from './tenant-object.ts';

export type Update = { object: TenantObject; previous: TenantObject };

export type LostNotes = {
  take(change: TenantChange): void;
  of(object: TenantObject): readonly string[];
};

export function createLostNotes(): LostNotes {
  const lost = new Map<string, readonly string[]>();
  const of = ({ metadata: { uid } }: TenantObject) => lost.get(uid) ?? [];
  return {
    take: (change) => {
      const { kind, object, previous } = change;
      if (previous === undefined) return;
      const { uid } = previous.metadata;
      if (kind !== 'updated') {
        lost.delete(uid);
        return;
      }
      const noted = namesOf(object);
      const names = [...of(previous), ...lostNames(change)];
      const missing = [...new Set(names)].filter((name) => !noted.includes(name));
      if (missing.length === 0) lost.delete(uid);
      else lost.set(uid, missing);
    },
    of,
  };
}

/** Our own writes leave a note there, though an empty one, and never touch what is declared. */
export function lostNames({ object, previous }: Update): string[] {
  const isOurs = hasNote(object) && object.metadata.generation === previous.metadata.generation;
  if (isOurs) return [];
  const noted = namesOf(object);
  return namesOf(previous).filter((name) => !noted.includes(name));
}
