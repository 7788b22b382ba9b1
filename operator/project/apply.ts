/**
 * Writes the decided changes of a project in one transaction, by the same actions as the API, which also purge caches
 * and send events.
 */
import { changeCallback } from '../../runtime/actions/change-callback.ts';
import { changePricing } from '../../runtime/actions/change-pricing.ts';
import { changeProject } from '../../runtime/actions/change-project.ts';
import { changeProjectDomains } from '../../runtime/actions/change-project-domains.ts';
import { liftAutoBlocks } from '../../runtime/actions/lift-auto-blocks.ts';
import { newSigningKey } from '../../runtime/actions/new-signing-key.ts';
import { newId } from '../../runtime/core/ids.ts';
import type { Transaction } from '../../runtime/db/client.ts';
import {
  findProjectByOwner,
  insertProject,
  type ProjectRow,
  updateProject,
} from '../../runtime/db/projects.ts';
import { insertSigningKey } from '../../runtime/db/signing-keys.ts';
import type { Sealing } from '../../runtime/platform/sealing.ts';
import { callbackSecretContext } from '../../runtime/platform/sealing-contexts.ts';
import { operatorAs } from '../audit-changes.ts';
import { ownerColumns } from '../claim.ts';
import type { Subject } from '../declared.ts';
import { type ApplyContext, type Context, presentProject } from '../reconcile.ts';
import type { ClaimChange, ProjectChange, SettingsChange } from './decide.ts';
import type { ProjectSpec } from './schema.ts';

export async function applyProject(
  tx: Transaction,
  changes: readonly ProjectChange[],
  context: ApplyContext<ProjectSpec>,
): Promise<ProjectRow> {
  const creation = changes.find((each) => each.change === 'create');
  const claim = changes.find(isClaim);
  let project = creation ? await create(tx, { creation, claim }, context) : context.project;
  for (const change of changes) {
    // A created project has its owner from the start.
    if (change.change === 'create' || (creation && isClaim(change))) continue;
    project = await write(tx, change, { ...context, project: presentProject(project) });
  }
  return presentProject(project);
}

/**
 * Gives the callback secret to the resource that declares it: written again only if missing or
 * outdated, and removed with the URL.
 */
export async function settleProject(
  { action, identity, spec }: Subject<ProjectSpec>,
  { db, sealing, writeSecret, removeSecrets }: Context,
): Promise<void> {
  if (action === 'delete' || spec.callback === undefined) return;
  const { secretName, url } = spec.callback;
  if (url === '' || secretName === undefined) {
    await removeSecrets?.();
    return;
  }
  const project = await findProjectByOwner(db, identity.uid);
  const secret = project && openCallbackSecret(project, sealing);
  if (secret !== undefined) await writeSecret(secretName, secret);
}

export function openCallbackSecret(
  { project_id, callback_secret_sealed }: ProjectRow,
  sealing: Sealing,
): string | undefined {
  if (callback_secret_sealed == null) return undefined;
  return sealing.open(callback_secret_sealed, callbackSecretContext(project_id)).toString('utf8');
}

function isClaim(change: ProjectChange): change is ClaimChange {
  return change.change === 'claim' || change.change === 'adopt';
}

type Creation = Extract<ProjectChange, { change: 'create' }>;
type Existing = ApplyContext<ProjectSpec> & { project: ProjectRow };

function create(
  tx: Transaction,
  { creation, claim }: { creation: Creation; claim: ClaimChange | undefined },
  { clock, subject }: ApplyContext<ProjectSpec>,
): Promise<ProjectRow | undefined> {
  const { project_slug, organization_id, settings } = creation;
  const project_id = newId('prj', clock.now().getTime());
  const owner = claim && claimedColumns(claim, subject);
  return insertProject(tx, { project_id, organization_id, project_slug, ...settings, ...owner });
}

function claimedColumns(
  { deletion_policy: owner_deletion_policy, callback_rotation_trigger }: ClaimChange,
  { identity }: ApplyContext<ProjectSpec>['subject'],
) {
  return { ...ownerColumns(identity), owner_deletion_policy, callback_rotation_trigger };
}

async function write(
  tx: Transaction,
  change: Exclude<ProjectChange, Creation>,
  context: Existing,
): Promise<ProjectRow | undefined> {
  const { project, subject } = context;
  const { project_id } = project;
  switch (change.change) {
    case 'claim':
    case 'adopt':
      return updateProject(tx, { project_id, changes: claimedColumns(change, subject) });
    case 'release':
      return updateProject(tx, { project_id, changes: { owner_uid: null } });
    case 'update':
    case 'drop-watermark':
      return changeSettings(tx, change, context);
    case 'set-callback':
      return setCallback(tx, change, context);
    case 'issue-signing-key':
      await insertSigningKey(tx, { ...newSigningKey(context), project_id });
      return project;
    case 'set-domains':
      return changeProjectDomains(tx, project, change.domains);
    case 'set-multiplier':
      return setPrice(tx, change, project);
  }
}

async function changeSettings(
  tx: Transaction,
  { settings }: SettingsChange,
  { project, subject }: Existing,
): Promise<ProjectRow> {
  const changed = await changeProject(tx, project, settings);
  const { nudity_auto_block } = settings;
  const actor = operatorAs(subject);
  await liftAutoBlocks(tx, { project, nudity_auto_block, actor });
  return changed;
}

/** From the hour that the audit log names. */
function setPrice(
  tx: Transaction,
  { multiplier, effective_from }: Extract<ProjectChange, { change: 'set-multiplier' }>,
  project: ProjectRow,
): Promise<ProjectRow> {
  return changePricing(tx, { project, pricing_multiplier: multiplier, effective_from });
}

async function setCallback(
  tx: Transaction,
  change: Extract<ProjectChange, { change: 'set-callback' }>,
  context: Existing,
): Promise<ProjectRow> {
  const { project } = context;
  const secret = change.secret === 'new' ? 'rotate' : 'keep';
  const input = { url: change.callback_url, secret } as const;
  const { changes } = await changeCallback(tx, context, { project, input });
  const { rotation_trigger: callback_rotation_trigger } = change;
  return changeProject(tx, project, { ...changes, callback_rotation_trigger });
}
