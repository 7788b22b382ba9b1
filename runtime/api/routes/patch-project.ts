/** Changing a project's settings. Spec: Endpoints, Projects; Project (status). */
import { auditProject } from '../../actions/audit-project.ts';
import { type CallbackChange, changeCallback } from '../../actions/change-callback.ts';
import { changeProject } from '../../actions/change-project.ts';
import { ServiceError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { nextHour } from '../../core/metering.ts';
import {
  type PatchProject,
  type ProjectRecord,
  patchProjectBody,
  staffOnlyFields,
} from '../../core/resources/project.ts';
import type { Actor } from '../../db/audit-log.ts';
import type { Transaction } from '../../db/client.ts';
import { insertPricing } from '../../db/project-pricing.ts';
import {
  lockProject,
  type ProjectChanges,
  type ProjectRow,
  updateProject,
} from '../../db/projects.ts';
import { findWatermarkPreset } from '../../db/watermark-presets.ts';
import { egressFault } from '../../platform/egress.ts';
import { auditActor } from '../audit-actor.ts';
import { type DashPrincipal, onlyDash } from '../auth/principal.ts';
import type { ApiDeps } from '../deps.ts';
import { projectEndpoint } from '../endpoint.ts';
import { entityTag, requireMatch } from '../entity-tag.ts';
import { presentProject, projectMoving } from '../present/project.ts';

export const patchProject = projectEndpoint({
  method: 'PATCH',
  path: '/v1/projects/{slug}',
  auth: ['dash'],
  ok: 200,
  errors: ['staff_only_field', 'project_suspended_by_staff'],
  projects: 'own, staff any',
  moving: projectMoving,
  body: patchProjectBody,
  handle: async ({ deps, principal, project, body, request_id, if_match }) => {
    const caller = onlyDash(principal);
    const actor = { ...auditActor(principal), request_id };
    refuseStaffFields(caller, body);
    await refuseCallbackUrl(deps, body);
    const { row, secret } = await deps.db.transaction((tx) =>
      applyPatch(tx, deps, { caller, actor, project_id: project.project_id, body, if_match }),
    );
    const record = present(deps, row);
    return secret === null ? record : { ...record, callback_secret: secret };
  },
});

function present({ settings, plans }: ApiDeps, row: ProjectRow): ProjectRecord {
  return presentProject(row, { deliveryRootDomain: settings.deliveryRootDomain, plans });
}

type Patch = {
  caller: DashPrincipal;
  actor: Actor;
  project_id: string;
  body: PatchProject;
  if_match: string | undefined;
};

async function applyPatch(
  tx: Transaction,
  deps: ApiDeps,
  { caller, actor, project_id, body, if_match }: Patch,
): Promise<{ row: ProjectRow; secret: string | null }> {
  const project = await lockProject(tx, project_id);
  if (project === undefined) throw new ServiceError('not_found');
  requireMatch(if_match, entityTag(present(deps, project), projectMoving));
  const { status, callback_url, rotate_callback_secret, pricing_multiplier, ...settings } = body;
  await refuseWatermark(tx, project_id, settings.default_watermark_preset_id);
  const callback = await changeCallbackIfAsked(tx, deps, { project, body });
  const priced = await changePricing(tx, deps, { project, pricing_multiplier });
  const row = await changeProject(tx, priced, {
    ...settings,
    ...statusChange({ caller, project, status }),
    ...callback.changes,
  });
  await auditProject(tx, { action: 'project.update', actor, before: project, after: row });
  return { row, secret: callback.secret };
}

type Pricing = { project: ProjectRow; pricing_multiplier: PatchProject['pricing_multiplier'] };

/** Prices are rows of their own, but the project has changed with them: its version and its time say so. */
async function changePricing(
  tx: Transaction,
  { clock }: ApiDeps,
  { project, pricing_multiplier }: Pricing,
): Promise<ProjectRow> {
  const isNew =
    pricing_multiplier !== undefined &&
    Number(pricing_multiplier) !== Number(project.pricing_multiplier);
  if (!isNew) return project;
  const { project_id } = project;
  await insertPricing(tx, {
    project_id,
    effective_from: nextHour(clock.now()),
    pricing_multiplier,
  });
  return (await updateProject(tx, { project_id, changes: {} })) ?? project;
}

function changeCallbackIfAsked(
  tx: Transaction,
  deps: ApiDeps,
  { project, body }: { project: ProjectRow; body: PatchProject },
): Promise<CallbackChange> {
  const wish = {
    url: body.callback_url,
    secret: body.rotate_callback_secret === true ? ('rotate' as const) : ('keep' as const),
  };
  return changeCallback(tx, deps, { project, wish });
}

/** Staff take over a suspension by the owner, and only staff end their own. */
function statusChange({
  caller,
  project,
  status,
}: {
  caller: DashPrincipal;
  project: ProjectRow;
  status: PatchProject['status'];
}): ProjectChanges {
  if (status === undefined) return {};
  if (status === 'suspended') {
    const isTakenOver = project.status === 'suspended' && !caller.is_staff;
    return isTakenOver ? {} : { status, suspended_by: caller.is_staff ? 'staff' : 'owner' };
  }
  if (project.suspended_by === 'staff' && !caller.is_staff) {
    throw new ServiceError('project_suspended_by_staff');
  }
  return { status, suspended_by: null };
}

function refuseStaffFields({ is_staff }: DashPrincipal, body: PatchProject): void {
  const sent: readonly string[] = Object.keys(body);
  const fields = staffOnlyFields.filter((field) => sent.includes(field));
  if (fields.length > 0 && !is_staff)
    throw new ServiceError('staff_only_field', { details: { fields } });
}

async function refuseCallbackUrl(
  { settings }: ApiDeps,
  { callback_url }: PatchProject,
): Promise<void> {
  if (callback_url === undefined || callback_url === null) return;
  const message = await egressFault(callback_url, settings.callbackEgress);
  if (message === undefined) return;
  throw new ServiceError('invalid_request', {
    details: { issues: [{ path: 'callback_url', message }] },
  });
}

async function refuseWatermark(
  tx: Transaction,
  project_id: string,
  watermark_preset_id: string | null | undefined,
): Promise<void> {
  if (watermark_preset_id === undefined || watermark_preset_id === null) return;
  const isPreset =
    isId('wm', watermark_preset_id) &&
    (await findWatermarkPreset(tx, { project_id, watermark_preset_id })) !== undefined;
  if (isPreset) return;
  const message = 'expected the id of a watermark preset of this project, or null';
  const issues = [{ path: 'default_watermark_preset_id', message }];
  throw new ServiceError('invalid_request', { details: { issues } });
}
