/** The conditions for a callback Secret that exists and is not the Project's own. Spec: Project. */
import { type Condition, conditionsFor } from '../conditions.ts';
import { projectSpec } from '../project/schema.ts';
import type { Holder } from './callback-secret.ts';
import { directiveOf } from './directives.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import { isBeingDeleted, type TenantObject } from './tenant-object.ts';

type Taken = { name: string; namespace: string; holder: Holder | undefined };

/**
 * Does not advise deleting a Secret that a Project holds: that project's server still reads the key
 * in it.
 */
export function secretTaken(
  { name, namespace, holder }: Taken,
  { findObject }: Pick<ObjectContext, 'findObject'>,
): Condition[] {
  const found = holder && findObject('Project', { namespace, name: holder.name });
  const live = found?.metadata.uid === holder?.uid ? found : undefined;
  return conditionsFor('SecretTaken', live ? holderHasIt(live, name) : describeForeignSecret(name));
}

/**
 * The operator does not swap names by itself: for a while, readers of a Secret would find the other
 * project's key in it.
 */
function holderHasIt(holder: TenantObject, name: string): string {
  const project = `the Project '${holder.metadata.name}'`;
  if (isBeingDeleted(holder)) {
    return `the Secret '${name}' still belongs to ${project}, which is being deleted; it is created once that Project is gone`;
  }
  if (isOwnerDeleted(holder, name)) {
    return `the Secret '${name}' still belongs to ${project}, which is getting another one; it is created once that Project has its new one. If the two swap names, set \`spec.callback.secretName\` of '${holder.metadata.name}' to a third name; when both are Ready, set it to the name that this Project gave up`;
  }
  return `the Secret '${name}' belongs to ${project}: set another name in \`spec.callback.secretName\``;
}

function describeForeignSecret(name: string): string {
  return `the Secret '${name}' exists and does not belong to this resource: delete it, or set another name in \`spec.callback.secretName\``;
}

/** A holder that asks for a plan or a pause gives up nothing. */
function isOwnerDeleted(holder: TenantObject, name: string): boolean {
  if (directiveOf(holder) !== undefined) return false;
  const spec = projectSpec.safeParse(holder.spec).data;
  return spec?.callback !== undefined && spec.callback.secretName !== name;
}
