/** A namespace's organization: created on first use, named after it, with a trial's credits. Spec: Organization. */
import { insertTrialOrganization } from '../../runtime/actions/insert-organization.ts';
import type { Plans } from '../../runtime/core/plans.ts';
import type { Actor } from '../../runtime/db/audit-log.ts';
import type { Database } from '../../runtime/db/client.ts';
import { findOrganizationByNamespace } from '../../runtime/db/organizations.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { fieldsOf, type RowDifference } from '../row-difference.ts';

export type FindOrganization = (db: Database, namespace: string) => Promise<string>;

type Deps = { clock: Clock; findPlans(): Promise<Plans> };

/** Without a resource's uid, as the organization belongs to the whole namespace. */
const OPERATOR: Actor = { actor_kind: 'operator' };

/**
 * Organizations are never deleted, so one lookup per term is enough: a recreated database ends the
 * term.
 */
export function createOrganizations(deps: Deps): FindOrganization {
  const terms = new WeakMap<Database, Map<string, string>>();
  return async (db, namespace) => {
    const known = terms.get(db) ?? new Map<string, string>();
    terms.set(db, known);
    const id = known.get(namespace) ?? (await findOrInsert(db, deps, namespace));
    known.set(namespace, id);
    return id;
  };
}

type Planned = { organization_id: string; difference?: RowDifference };

/**
 * Creates nothing: returns a placeholder for the id in a plan, and the row that would be inserted.
 */
export async function planOrganization(db: Database, namespace: string): Promise<Planned> {
  const found = await findOrganizationByNamespace(db, namespace);
  if (found !== undefined) return found;
  const fields = fieldsOf({ name: namespace, plan: 'trial', namespace });
  return {
    organization_id: `(a new organization '${namespace}')`,
    difference: { action: 'insert', table: 'organizations', row: namespace, fields },
  };
}

async function findOrInsert(db: Database, deps: Deps, namespace: string): Promise<string> {
  const found =
    (await findOrganizationByNamespace(db, namespace)) ??
    (await insert(db, deps, namespace)) ??
    // Another process created it in between.
    (await findOrganizationByNamespace(db, namespace));
  if (found === undefined) throw new Error(`no organization for the namespace ${namespace}`);
  return found.organization_id;
}

async function insert(db: Database, { clock, findPlans }: Deps, namespace: string) {
  const plans = await findPlans();
  const named = { name: namespace, namespace, actor: OPERATOR };
  return db.transaction((tx) => insertTrialOrganization(tx, { clock, plans }, named));
}
