/** What is said where the Secret that a Project names for its callback is not its own. Spec: Project. */
import { type Condition, conditionsFor } from '../conditions.ts';
import { projectSpec } from '../project/schema.ts';
import type { Holder } from './callback-secret.ts';
import { directiveOf } from './directives.ts';
import { isGoing, type TenantObject } from './tenant-object.ts';

type Taken = { name: string; holder: Holder | undefined };

/** Where a Project holds it nobody is told to delete it: that server still reads the key in it. */
export function secretTaken(
  { name, holder }: Taken,
  findProject: (name: string) => TenantObject | undefined,
): Condition[] {
  const found = holder && findProject(holder.name);
  const live = found?.metadata.uid === holder?.uid ? found : undefined;
  return conditionsFor('SecretTaken', live ? holderHasIt(live, name) : strangerHasIt(name));
}

/** Not exchanged by itself: whoever reads a Secret would find the key of the other project in it for a while. */
function holderHasIt(holder: TenantObject, name: string): string {
  const project = `the Project '${holder.metadata.name}'`;
  if (isGoing(holder)) {
    return `the Secret '${name}' is still that of ${project}, which is being deleted, and is made when that one is gone`;
  }
  if (isLeaving(holder, name)) {
    return `the Secret '${name}' is still that of ${project}, which is to have another one, and is made when that one has it. Where the two exchange names, set \`spec.callback.secretName\` of '${holder.metadata.name}' to a third name; when both are Ready, set it to the name that this one has left`;
  }
  return `the Secret '${name}' is that of ${project}: set another name in \`spec.callback.secretName\``;
}

function strangerHasIt(name: string): string {
  return `the Secret '${name}' is there and not of this resource: delete it, or set another name in \`spec.callback.secretName\``;
}

/** What asks for a plan or a pause leaves nothing. */
function isLeaving(holder: TenantObject, name: string): boolean {
  if (directiveOf(holder) !== undefined) return false;
  const spec = projectSpec.safeParse(holder.spec).data;
  return spec?.callback !== undefined && spec.callback.secretName !== name;
}
