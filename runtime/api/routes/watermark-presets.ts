/** Spec: Endpoints, Watermark presets. */
import {
  deleteWatermarkPreset,
  type PresetChange,
  putWatermarkPreset,
} from '../../actions/change-watermark-preset.ts';
import { ServiceError } from '../../core/errors.ts';
import { isId, newId } from '../../core/ids.ts';
import {
  type PutWatermarkPreset,
  putWatermarkPresetBody,
} from '../../core/resources/watermark-preset.ts';
import { findWatermarkPreset, listWatermarkPresets } from '../../db/watermark-presets.ts';
import { auditActor } from '../audit-actor.ts';
import { type ProjectCall, projectEndpoint, withStatus } from '../endpoint.ts';
import { entityTag, requireMatch } from '../entity-tag.ts';
import { newIdIssues } from '../new-id.ts';
import { presentWatermarkPreset } from '../present/watermark-preset.ts';

export const listProjectWatermarkPresets = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/watermark-presets',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  handle: async ({ deps, project }) => {
    const rows = await listWatermarkPresets(deps.db, project.project_id);
    return { items: rows.map(presentWatermarkPreset) };
  },
});

const PUT_ERRORS = [
  'watermark_preset_name_taken',
  'watermark_preset_quota_exceeded',
  'watermark_file_not_ready',
] as const;

export const createWatermarkPreset = projectEndpoint({
  method: 'PUT',
  path: '/v1/projects/{slug}/watermark-presets',
  auth: ['dash', 'key:files:write'],
  ok: 201,
  moving: [],
  errors: PUT_ERRORS,
  body: putWatermarkPresetBody,
  handle: async (call) => {
    const { deps } = call;
    const id = newId('wm', deps.clock.now().getTime());
    const { row } = await putWatermarkPreset(deps.db, changeOf(call, id));
    return presentWatermarkPreset(row);
  },
});

export const getWatermarkPreset = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/watermark-presets/{id}',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  moving: [],
  errors: ['not_found'],
  handle: async ({ deps, project: { project_id }, params }) => {
    const watermark_preset_id = params['id'] ?? '';
    const preset = { project_id, watermark_preset_id };
    const row = isId('wm', watermark_preset_id) && (await findWatermarkPreset(deps.db, preset));
    if (!row) throw new ServiceError('not_found');
    return presentWatermarkPreset(row);
  },
});

export const replaceWatermarkPreset = projectEndpoint({
  method: 'PUT',
  path: '/v1/projects/{slug}/watermark-presets/{id}',
  auth: ['dash', 'key:files:write'],
  ok: 200,
  moving: [],
  errors: PUT_ERRORS,
  body: putWatermarkPresetBody,
  misfits: ({ params }) => newIdIssues('wm', params['id']),
  handle: async (call) => {
    const id = call.params['id'] ?? '';
    const { row, outcome } = await putWatermarkPreset(call.deps.db, changeOf(call, id));
    return withStatus(outcome === 'created' ? 201 : 200, presentWatermarkPreset(row));
  },
});

export const deleteProjectWatermarkPreset = projectEndpoint({
  method: 'DELETE',
  path: '/v1/projects/{slug}/watermark-presets/{id}',
  auth: ['dash', 'key:files:write'],
  ok: 204,
  errors: ['not_found', 'default_watermark_in_use'],
  handle: async ({ deps, principal, project: { project_id }, params, request_id }) => {
    const watermark_preset_id = params['id'] ?? '';
    const actor = auditActor({ principal, request_id });
    const preset = { project_id, watermark_preset_id, actor };
    const isDeleted =
      isId('wm', watermark_preset_id) && (await deleteWatermarkPreset(deps.db, preset));
    if (!isDeleted) throw new ServiceError('not_found');
  },
});

function changeOf(
  { principal, project, body, request_id, if_match }: ProjectCall<PutWatermarkPreset, undefined>,
  watermark_preset_id: string,
): PresetChange {
  const { project_id } = project;
  const actor = auditActor({ principal, request_id });
  const guard: PresetChange['guard'] = (before) =>
    requireMatch(if_match, before && entityTag(presentWatermarkPreset(before), []));
  return { project_id, watermark_preset_id, input: body, actor, guard };
}
