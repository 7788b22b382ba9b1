/**
 * What the audit log records of a pass: its changes by name, and the affected rows before and after. Of a secret it
 * records only that it is new, of a callback URL only the origin, as the rest may be a secret. Spec: Project.
 */
import { type Actor, insertAuditEntry } from '../runtime/db/audit-log.ts';
import type { Transaction } from '../runtime/db/client.ts';
import type { ProjectRow } from '../runtime/db/projects.ts';
import type { Subject } from './declared.ts';
import { type FieldDifference, GeneratedValue, type RowDifference } from './row-difference.ts';

type AuditedChanges = {
  subject: Subject<unknown>;
  changed: ProjectRow;
  changes: readonly { change: string }[];
  differences: readonly RowDifference[];
};

/** The operator as the actor, on behalf of the resource that it reconciles. */
export function operatorAs({ identity }: Pick<Subject<unknown>, 'identity'>): Actor {
  return { actor_kind: 'operator', actor_id: identity.uid };
}

export async function auditChanges(
  tx: Transaction,
  { subject, changed, changes, differences }: AuditedChanges,
): Promise<void> {
  const { kind, namespace, name } = subject.identity;
  const were = differences.filter(({ action }) => action !== 'insert');
  const are = differences.filter(({ action }) => action !== 'delete');
  await insertAuditEntry(tx, {
    organization_id: changed.organization_id,
    project_id: changed.project_id,
    ...operatorAs(subject),
    action: `${kind}.${subject.action}`,
    target: `${namespace}/${name}`,
    before: were.length === 0 ? undefined : { rows: were.map((each) => rowOf(each, before)) },
    after: {
      changes: changes.map(({ change }) => change),
      rows: are.map((each) => rowOf(each, after)),
    },
  });
}

function rowOf({ table, row, fields }: RowDifference, pick: (each: FieldDifference) => unknown) {
  const values = fields.map((each) => [each.field, pick(each)]);
  return { table, row, ...Object.fromEntries(values) };
}

function before({ field, from, to }: FieldDifference): unknown {
  return to instanceof GeneratedValue ? undefined : shown(field, from);
}

function after({ field, to }: FieldDifference): unknown {
  return to instanceof GeneratedValue ? to.words : shown(field, to);
}

function shown(field: string, value: unknown): unknown {
  return field === 'callback_url' && typeof value === 'string' ? new URL(value).origin : value;
}
