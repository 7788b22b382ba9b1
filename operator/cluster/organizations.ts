/** The organization of a namespace: made on first use and named after it. Spec: Organization. */
import { newId } from '../../runtime/core/ids.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import { findOrganizationByNamespace, insertOrganization } from '../../runtime/db/organizations.ts';
import type { Clock } from '../../runtime/platform/clock.ts';

export type FindOrganization = (namespace: string) => Promise<string>;

/** An organization never goes, so that each is looked for once. */
export function createOrganizations(db: Queryable, clock: Clock): FindOrganization {
  const known = new Map<string, string>();
  return async (namespace) => {
    const id = known.get(namespace) ?? (await findOrInsert(db, { namespace, clock }));
    known.set(namespace, id);
    return id;
  };
}

async function findOrInsert(
  db: Queryable,
  { namespace, clock }: { namespace: string; clock: Clock },
): Promise<string> {
  const organization_id = newId('org', clock.now().getTime());
  const found =
    (await findOrganizationByNamespace(db, namespace)) ??
    (await insertOrganization(db, {
      organization_id,
      name: namespace,
      plan: 'trial',
      namespace,
    })) ??
    // Another made it in between.
    (await findOrganizationByNamespace(db, namespace));
  if (found === undefined) throw new Error(`no organization for the namespace ${namespace}`);
  return found.organization_id;
}
