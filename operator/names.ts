/**
 * Unique names within a project, when resources exchange them. A row that holds a declared name makes way if its own
 * resource declares another name, and so does the holder of that name; also if its own resource is being deleted, or is
 * gone while its row stays as the default watermark. The first resource reconciled renames all of them in one
 * transaction, as each would otherwise wait for another's name for ever. Spec: Watermark preset; Recipe.
 */
import type { z } from 'zod';
import type { Queryable } from '../runtime/db/client.ts';
import {
  findNameHolder,
  type HolderRow,
  type NamedTable,
  type NameHolder,
  type Renaming,
} from '../runtime/db/declared-names.ts';
import { isOwnerElsewhere } from '../runtime/db/declared-rows.ts';
import type { OwnedRow } from './claim.ts';
import type { Identity } from './declared.ts';
import { refuseDefaults } from './default-names.ts';
import type { Scope } from './reconcile.ts';
import type { RowDifference } from './row-difference.ts';

/** The holder that keeps the name; or the rows to rename first, mostly none. */
export type NameResolution =
  | { holder: NameHolder }
  | { holder?: undefined; renamings: readonly Renaming[] };

export type RenameHolders = {
  change: 'make-way';
  renamings: readonly Renaming[];
  own_id: string | null;
};

type NamedSpec = { displayName?: string | undefined; projectRef: { name: string } };

type Kind = { table: NamedTable; schema: z.ZodType<NamedSpec> };

export type DesiredName = { identity: Identity; spec: NamedSpec; project_id: string };

/** The name that a resource declares. */
export function declaredName({ name }: { name: string }, { displayName }: NamedSpec): string {
  return displayName ?? name;
}

/**
 * Follows the name from holder to holder, to one that is free or that the resource itself gives up.
 */
export async function resolveName(
  db: Queryable,
  { desired, ...kind }: Kind & { desired: DesiredName },
  scope: Scope,
): Promise<NameResolution> {
  const { identity, spec, project_id } = desired;
  const find = (name: string) =>
    findNameHolder(db, kind.table, { project_id, name, owner_uid: identity.uid });
  const first = await find(declaredName(identity, spec));
  const renamings: Renaming[] = [];
  let holder = first;
  while (first !== undefined && holder !== undefined) {
    const { id, name: from } = holder;
    const to = await nextName(db, holder, { desired, schema: kind.schema, scope });
    const isBack = renamings.some((each) => each.id === id);
    if (to === undefined || to === from || isBack) return { holder: first };
    renamings.push({ id, from, to });
    holder = await find(to);
  }
  return { renamings };
}

/**
 * Undefined if no resource of the project declares a valid name for the row, or if it is to be left
 * alone.
 */
async function nextName(
  db: Queryable,
  holder: HolderRow,
  { desired, schema, scope }: { desired: DesiredName; schema: Kind['schema']; scope: Scope },
): Promise<string | undefined> {
  const { id, owner_uid, owner_name } = holder;
  if (owner_uid === null || owner_name === null) return undefined;
  const { kind } = desired.identity;
  // A row that must stay until its successor exists, like the default watermark, is named after its
  // id until then.
  if (await isOwnerDeleted(db, { ...holder, kind }, scope)) return id;
  const declared = scope.findDeclared(kind, owner_name);
  const spec = declared?.uid === owner_uid ? schema.safeParse(declared?.spec).data : undefined;
  if (spec?.projectRef.name !== desired.spec.projectRef.name) return undefined;
  if (refuseDefaults({ name: owner_name }, spec, ['displayName']) !== undefined) return undefined;
  return declaredName({ name: owner_name }, spec);
}

type HeldRow = OwnedRow & { kind: string; is_default: boolean };

/**
 * Whether the row's resource is being deleted, or, for a default watermark, is gone. The sweep
 * releases any other orphaned row, with its own safeguard. A resource of another cluster is missing
 * here, but counts as neither.
 */
export async function isOwnerDeleted(
  db: Queryable,
  { kind, is_default, owner_uid, owner_namespace, owner_name }: HeldRow,
  scope: Scope,
): Promise<boolean> {
  if (owner_uid === null || owner_namespace === null || owner_name === null) return false;
  // Checked first, as `isGone` asks the API server.
  if (await isOwnerElsewhere(db, { owner_uid })) return false;
  const owner = { namespace: owner_namespace, name: owner_name, uid: owner_uid };
  return scope.isBeingDeleted(kind, owner) || (is_default && scope.isGone(kind, owner));
}

/** No change if nobody holds the name. */
export function renameHolders(
  renamings: readonly Renaming[],
  own_id: string | undefined,
): RenameHolders[] {
  return renamings.length === 0 ? [] : [{ change: 'make-way', renamings, own_id: own_id ?? null }];
}

export function renameDifferences(
  table: NamedTable,
  { renamings }: RenameHolders,
): RowDifference[] {
  return renamings.map(({ from, to }) => {
    return { action: 'update', table, row: from, fields: [{ field: 'name', from, to }] };
  });
}

/** The holder of the name, in words. */
export function printHolder({ owner_namespace, owner_name }: NameHolder, kind: string): string {
  return owner_name === null ? '' : `, that of the ${kind} ${owner_namespace}/${owner_name}`;
}

/** Why no further one fits, and what to do. */
export function printLimit(what: string, limit: number): string {
  return `the project already has ${limit} ${what}, the maximum: delete one of them, and this one is created by itself`;
}
