/**
 * What a pass would do to a Project's callback Secrets, one line each. Writes nothing, and reveals no value. Spec:
 * Project.
 */
import { findProjectByOwnerOrSlug } from '../../runtime/db/projects.ts';
import type { Condition } from '../conditions.ts';
import { openCallbackSecret } from '../project/apply.ts';
import { projectSpec } from '../project/schema.ts';
import type { Result } from '../reconcile.ts';
import { SIGNS } from '../row-difference.ts';
import { judgeCallbackSecret, listMade } from './callback-secret.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import { secretTaken } from './secret-taken.ts';
import { declaredSlug, isBeingDeleted, type TenantObject } from './tenant-object.ts';

export type SecretsPlan = {
  lines: readonly string[];
  /** The conditions that the pass would report when the Secret is not the Project's own. */
  taken?: Condition[];
};

/** For a Project that is accepted. */
export async function planSecrets(
  object: TenantObject,
  { differences }: Pick<Result, 'differences'>,
  context: ObjectContext,
): Promise<SecretsPlan> {
  const { namespace = '' } = object.metadata;
  const line = (sign: string, name: string) => `${sign} Secret ${namespace}/${name}`;
  const made = await listMade(context.client, object, context.lost_secret_names?.of(object) ?? []);
  const all = { lines: made.map((each) => line('-', each)) };
  if (isBeingDeleted(object)) return all;
  const spec = projectSpec.parse(object.spec ?? {});
  if (spec.callback === undefined) return { lines: [] };
  const { url, secretName: name } = spec.callback;
  if (url === '' || name === undefined) return all;
  const secret = isMadeAnew(differences) ? 'new' : await secretOf(object, context);
  if (secret === undefined) return { lines: [] };
  const judged = await judgeCallbackSecret(context.client, object, { name, secret });
  if (judged.outcome === 'taken') {
    return { lines: [], taken: secretTaken({ name, namespace, holder: judged.holder }, context) };
  }
  const written = judged.outcome === 'same' ? [] : [line(SIGNS[judged.outcome], name)];
  const others = made.filter((each) => each !== name).map((each) => line('-', each));
  return { lines: [...written, ...others] };
}

function isMadeAnew(differences: Result['differences']): boolean {
  return differences.some(({ fields }) =>
    fields.some(({ field }) => field === 'callback_secret_sealed'),
  );
}

/** Includes a project that the pass would take over. */
async function secretOf(
  object: TenantObject,
  { db, sealing }: ObjectContext,
): Promise<{ value: string } | undefined> {
  const by = { owner_uid: object.metadata.uid, project_slug: declaredSlug(object) };
  const project = await findProjectByOwnerOrSlug(db, by);
  const value = project && openCallbackSecret(project, sealing);
  return value === undefined ? undefined : { value };
}
