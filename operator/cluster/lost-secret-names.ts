/**
 * Secret names that disappeared from a Project when somebody replaced it with a manifest without the annotation. They
 * are kept until the Project names them again, also while another process leads: the operator never lists Secrets, so
 * nothing else knows of them.
 */
import { hasSecretNames, secretNamesOf } from './callback-secret.ts';
import type { TenantChange } from './object-caches.ts';
import type { TenantObject } from './tenant-object.ts';

export type Update = { object: TenantObject; previous: TenantObject };

export type LostSecretNames = {
  handleChange(change: TenantChange): void;
  of(object: TenantObject): readonly string[];
};

export function createLostSecretNames(): LostSecretNames {
  const lost = new Map<string, readonly string[]>();
  const of = ({ metadata: { uid } }: TenantObject) => lost.get(uid) ?? [];
  return {
    handleChange: (change) => {
      const { kind, object, previous } = change;
      if (previous === undefined) return;
      const { uid } = previous.metadata;
      if (kind !== 'updated') {
        lost.delete(uid);
        return;
      }
      const present = secretNamesOf(object);
      const names = [...of(previous), ...findLostNames(change)];
      const missing = [...new Set(names)].filter((name) => !present.includes(name));
      if (missing.length === 0) lost.delete(uid);
      else lost.set(uid, missing);
    },
    of,
  };
}

/** The operator's own writes keep the annotation, even if empty, and never change the spec. */
export function findLostNames({ object, previous }: Update): string[] {
  const isOurs =
    hasSecretNames(object) && object.metadata.generation === previous.metadata.generation;
  if (isOurs) return [];
  const present = secretNamesOf(object);
  return secretNamesOf(previous).filter((name) => !present.includes(name));
}
