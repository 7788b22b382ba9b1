/** What a project's changes do to rows, computed before they are made. Spec: Project. */
import { ownerColumns } from '../claim.ts';
import type { Subject } from '../declared.ts';
import { fieldsOf, GeneratedValue, type RowDifference } from '../row-difference.ts';
import type { CallbackChange, ProjectChange } from './decide.ts';
import type { ProjectRows } from './gather.ts';
import type { ProjectSpec } from './schema.ts';

export function projectDifferences(
  change: ProjectChange,
  { identity, spec }: Subject<ProjectSpec>,
  { project, newest_price }: ProjectRows,
): RowDifference[] {
  const row = project?.project_slug ?? spec?.slug ?? identity.name;
  const update = (written: object): RowDifference[] => {
    const fields = fieldsOf(written, project ?? unowned);
    return fields.length === 0 ? [] : [{ action: 'update', table: 'projects', row, fields }];
  };
  switch (change.change) {
    case 'create': {
      const { project_slug, organization_id, settings } = change;
      const fields = fieldsOf({ project_slug, organization_id, ...settings });
      return [{ action: 'insert', table: 'projects', row, fields }];
    }
    case 'claim':
    case 'adopt': {
      const { deletion_policy: owner_deletion_policy, callback_rotation_trigger } = change;
      const owner = ownerColumns(identity);
      return update({ ...owner, owner_deletion_policy, callback_rotation_trigger });
    }
    case 'release':
      return update({ owner_uid: null });
    case 'update':
    case 'drop-watermark':
      return update(change.settings);
    case 'set-callback': {
      const { callback_url, rotation_trigger: callback_rotation_trigger } = change;
      const secret = secretOf(change);
      return update({ callback_url, callback_rotation_trigger, ...secret });
    }
    case 'issue-signing-key':
      return [insert('signing_keys', row, { kid: new GeneratedValue('a new key') })];
    case 'set-domains':
      return domainDifferences(project?.custom_domains ?? [], change.domains);
    case 'set-multiplier':
      return [priceDifference(change, { row, newest_price })];
  }
}

type PriceChange = Extract<ProjectChange, { change: 'set-multiplier' }>;

/** A price that was set for the same hour is replaced. */
function priceDifference(
  { effective_from, multiplier }: PriceChange,
  { row, newest_price }: { row: string; newest_price: ProjectRows['newest_price'] },
): RowDifference {
  const table = 'project_pricing';
  if (newest_price?.effective_from.getTime() !== effective_from.getTime())
    return insert(table, row, { effective_from, multiplier });
  const fields = fieldsOf({ multiplier }, { multiplier: newest_price.pricing_multiplier });
  return { action: 'update', table, row: `${row} from ${effective_from.toISOString()}`, fields };
}

function secretOf({ secret, callback_url }: CallbackChange) {
  if (callback_url === null) return { callback_secret_sealed: new GeneratedValue('none any more') };
  return secret === 'new' ? { callback_secret_sealed: new GeneratedValue('a new secret') } : {};
}

/** The initial values of a project that this pass creates. */
const unowned = {
  owner_uid: null,
  owner_namespace: null,
  owner_name: null,
  owner_deletion_policy: null,
  callback_url: null,
  callback_rotation_trigger: null,
};

function insert(table: string, row: string, written: object): RowDifference {
  return { action: 'insert', table, row, fields: fieldsOf(written) };
}

function domainDifferences(before: readonly string[], after: readonly string[]): RowDifference[] {
  const table = 'project_domains';
  const kept = before.filter((domain) => after.includes(domain));
  const order = after.filter((domain) => before.includes(domain));
  // Counted among the domains that stay, so that added or removed ones move no others.
  const moveOf = (domain: string) => {
    return { field: 'position', from: kept.indexOf(domain) + 1, to: order.indexOf(domain) + 1 };
  };
  return [
    ...before
      .filter((domain) => !after.includes(domain))
      .map((row) => ({ action: 'delete' as const, table, row, fields: [] })),
    ...after
      .filter((domain) => !before.includes(domain))
      .map((row) => ({ action: 'insert' as const, table, row, fields: [] })),
    ...order
      .filter((domain, index) => domain !== kept[index])
      .map((row) => ({ action: 'update' as const, table, row, fields: [moveOf(row)] })),
  ];
}
