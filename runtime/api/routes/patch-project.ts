/** Changing a project's settings. Spec: Endpoints, Projects; Project (status). */
import { auditProject } from '../../actions/audit-project.ts';
import {
  type CallbackPatch,
  callbackIssues,
  changeCallback,
} from '../../actions/change-callback.ts';
import { changePricing } from '../../actions/change-pricing.ts';
import { changeProject } from '../../actions/change-project.ts';
import { statusChange } from '../../actions/status-change.ts';
import { ServiceError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { type InputIssue, refuseWrongInput } from '../../core/input-issue.ts';
import {
  type PatchProject,
  patchProjectBody,
  staffFieldsOfPatch,
} from '../../core/resources/project.ts';
import type { Actor } from '../../db/audit-log.ts';
import type { Transaction } from '../../db/client.ts';
import { lockProject, type ProjectRow } from '../../db/projects.ts';
import { findWatermarkPreset } from '../../db/watermark-presets.ts';
import { egressFault, portFault } from '../../platform/egress.ts';
import { auditActor } from '../audit-actor.ts';
import { forgetSessions } from '../auth/library-session.ts';
import { type DashPrincipal, requireDashPrincipal } from '../auth/principal.ts';
import type { ApiDeps } from '../deps.ts';
import { projectEndpoint } from '../endpoint.ts';
import { entityTag, requireMatch } from '../entity-tag.ts';
import { presentProject, projectVolatileFields } from '../present/project.ts';

export const patchProject = projectEndpoint({
  method: 'PATCH',
  path: '/v1/projects/{slug}',
  auth: ['dash'],
  ok: 200,
  errors: ['staff_only_field', 'project_suspended_by_staff'],
  projects: 'own, staff any',
  moving: projectVolatileFields,
  body: patchProjectBody,
  staffFields: staffFieldsOfPatch,
  handle: async ({ deps, principal, project, body, request_id, if_match }) => {
    const caller = requireDashPrincipal(principal);
    const actor = auditActor({ principal, request_id });
    // Before the transaction, because it makes a DNS look-up.
    const unreachable = await callbackUrlIssues(deps, body);
    const { project_id } = project;
    const patch = { caller, actor, project_id, body, unreachable, if_match };
    const { row, secret } = await deps.db.transaction((tx) => applyPatch(tx, deps, patch));
    const record = presentProject(row, deps);
    return secret === null ? record : { ...record, callback_secret: secret };
  },
  afterwards: forgetSessions,
});

type Patch = {
  caller: DashPrincipal;
  actor: Actor;
  project_id: string;
  body: PatchProject;
  /** The issues of the callback URL's destination. */
  unreachable: InputIssue[];
  if_match: string | undefined;
};

async function applyPatch(
  tx: Transaction,
  deps: ApiDeps,
  { caller, actor, project_id, body, unreachable, if_match }: Patch,
): Promise<{ row: ProjectRow; secret: string | null }> {
  const project = await lockProject(tx, project_id);
  if (project === undefined) throw new ServiceError('not_found');
  requireMatch(if_match, entityTag(presentProject(project, deps), projectVolatileFields));
  const { status, callback_url, rotate_callback_secret, pricing_multiplier, ...settings } = body;
  await refuseMisfits(tx, { project, body, unreachable });
  const callback = await changeCallback(tx, deps, { project, input: callbackPatch(body) });
  const priced = await changePricing(tx, { project, pricing_multiplier });
  const row = await changeProject(tx, priced, {
    ...settings,
    ...statusChange({ by: caller.is_staff ? 'staff' : 'owner', project, status }),
    ...callback.changes,
  });
  await auditProject(tx, { action: 'project.update', actor, before: project, after: row });
  return { row, secret: callback.secret };
}

function callbackPatch({ callback_url: url, rotate_callback_secret }: PatchProject): CallbackPatch {
  return { url, secret: rotate_callback_secret === true ? 'rotate' : 'keep' };
}

/** Checks that need the database, for all fields at once. */
async function refuseMisfits(
  tx: Transaction,
  {
    project,
    body,
    unreachable,
  }: { project: ProjectRow; body: PatchProject; unreachable: InputIssue[] },
): Promise<void> {
  refuseWrongInput([
    ...unreachable,
    ...(await watermarkIssues(tx, project.project_id, body.default_watermark_preset_id)),
    ...callbackIssues(project, callbackPatch(body)),
  ]);
}

async function callbackUrlIssues(
  { settings }: ApiDeps,
  { callback_url }: PatchProject,
): Promise<InputIssue[]> {
  if (callback_url === undefined || callback_url === null) return [];
  const { callbackEgress: egress, callbackPorts: ports } = settings;
  const port = egress === 'any' ? undefined : portFault(callback_url, ports);
  const message = (await egressFault(callback_url, egress)) ?? port;
  return message === undefined ? [] : [{ path: 'callback_url', message }];
}

async function watermarkIssues(
  tx: Transaction,
  project_id: string,
  watermark_preset_id: string | null | undefined,
): Promise<InputIssue[]> {
  if (watermark_preset_id === undefined || watermark_preset_id === null) return [];
  const isPreset =
    isId('wm', watermark_preset_id) &&
    (await findWatermarkPreset(tx, { project_id, watermark_preset_id })) !== undefined;
  const message = 'expected the id of a watermark preset of this project, or null';
  return isPreset ? [] : [{ path: 'default_watermark_preset_id', message }];
}
