/**
 * Custom domains that a Project declares and other projects have. If the holder's own Project is declared without the
 * domain, this one waits for it, and releases its own surplus domains meanwhile: resources that exchange domains would
 * otherwise wait for each other for ever. A domain is released before it is taken, so that no host ever belongs to two
 * projects. Spec: Project.
 */
import type { Queryable } from '../../runtime/db/client.ts';
import { listTakenDomains, type TakenDomainRow } from '../../runtime/db/declared-rows.ts';
import type { Subject } from '../declared.ts';
import type { Scope } from '../reconcile.ts';
import { type ProjectSpec, projectSpec } from './schema.ts';

export type DomainRows = {
  /** Declared domains that other projects have and keep. */
  domains_taken: readonly TakenDomain[];
  /** Domains that their projects are about to release, each with the name of its Project. */
  domains_awaited: readonly { domain: string; holder: string }[];
};

/**
 * `holder`: the Project of this namespace that has the domain; `past_holder`: the deleted Project
 * that had it.
 */
export type TakenDomain = { domain: string; holder?: string; past_holder?: string };

export async function findDomains(
  db: Queryable,
  { identity, spec }: Subject<ProjectSpec>,
  { project_id, scope }: { project_id: string | null; scope: Scope },
): Promise<DomainRows> {
  const domains = spec?.staff?.customDomains ?? [];
  const held = domains.length === 0 ? [] : await listTakenDomains(db, { domains, project_id });
  const { namespace } = identity;
  const awaited = held.flatMap((row) => {
    const holder = findReleasingProject(row, { namespace, scope });
    return holder === undefined ? [] : [{ domain: row.domain, holder }];
  });
  const kept = held.filter(({ domain }) => !awaited.some((each) => each.domain === domain));
  return {
    domains_taken: kept.map((row) => takenDomain(row, namespace)),
    domains_awaited: awaited,
  };
}

function takenDomain(
  { domain, owner_uid, owner_namespace, owner_name }: TakenDomainRow,
  namespace: string,
): TakenDomain {
  if (owner_name === null || owner_namespace !== namespace) return { domain };
  return owner_uid === null ? { domain, past_holder: owner_name } : { domain, holder: owner_name };
}

/**
 * The Project that has the domain and is declared without it; a spec without a list of domains
 * keeps them.
 */
function findReleasingProject(
  { domain, owner_uid, owner_namespace, owner_name }: TakenDomainRow,
  { namespace, scope }: { namespace: string; scope: Scope },
): string | undefined {
  if (owner_name === null || owner_namespace !== namespace) return undefined;
  const declared = scope.findDeclared('Project', owner_name);
  const spec = declared?.uid === owner_uid ? projectSpec.safeParse(declared?.spec).data : undefined;
  const kept = spec?.staff?.customDomains;
  return kept === undefined || kept.includes(domain) ? undefined : owner_name;
}
