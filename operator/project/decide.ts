/**
 * What must change so that a project is as its resource declares. Pure: resource and rows go in, changes and conditions
 * come out. Spec: Project; States and transitions, Project.
 */
import { nextHour } from '../../runtime/core/metering.ts';
import { type Claim, claimOn } from '../claim.ts';
import { changeNothing, conditionsFor } from '../conditions.ts';
import type { Subject } from '../declared.ts';
import type { Decision } from '../reconcile.ts';
import type { ProjectRows } from './gather.ts';
import { type ProjectState, refuseProject, slugOf } from './refuse.ts';
import type { ProjectSpec } from './schema.ts';
import { declaredSettings, differences, type ProjectSettings } from './settings.ts';
import { verdict } from './verdict.ts';

export type ProjectChange =
  | {
      change: 'create';
      project_slug: string;
      organization_id: string;
      settings: Partial<ProjectSettings> & { name: string };
    }
  | ClaimChange
  | { change: 'release' }
  | SettingsChange
  | CallbackChange
  | { change: 'issue-signing-key' }
  | { change: 'set-domains'; domains: string[] }
  | { change: 'set-multiplier'; multiplier: string; effective_from: Date };

/** `adopt`: the project was made through the API. */
export type ClaimChange = {
  change: 'claim' | 'adopt';
  deletion_policy: DeletionPolicy;
  callback_rotation_trigger: string | null;
};

/**
 * `drop-watermark`: no resource declares the default watermark any more, so the preset must not
 * count as in use.
 */
export type SettingsChange = {
  change: 'update' | 'drop-watermark';
  settings: Partial<ProjectSettings>;
};

export type CallbackChange = {
  change: 'set-callback';
  /** null: no callback. */
  callback_url: string | null;
  rotation_trigger: string | null;
  secret: 'new' | 'keep';
};

export type DeletionPolicy = 'suspend' | 'retain';

type ProjectDecision = Decision<ProjectChange>;

export function decideProject(subject: Subject<ProjectSpec>, rows: ProjectRows): ProjectDecision {
  if (subject.action === 'delete') return decideDeletion(subject, rows);
  const desired: ProjectState = { identity: subject.identity, spec: subject.spec, rows };
  const refusal = refuseProject(desired);
  if (refusal !== undefined) {
    return changeNothing(refusal.reason, refusal.message);
  }
  return { changes: changesFor(desired), conditions: verdict(desired) };
}

function changesFor(desired: ProjectState): ProjectChange[] {
  const { identity, spec, rows } = desired;
  const claim = rows.project && claimOn(rows.project, identity);
  return [
    ...creation(desired),
    ...claiming(desired, claim),
    ...updating(desired),
    ...callback(desired, claim),
    ...(rows.project?.active_signing_kid ? [] : [{ change: 'issue-signing-key' } as const]),
    ...domains(spec, rows),
    ...pricing(desired),
  ];
}

function creation(desired: ProjectState): ProjectChange[] {
  const { spec, rows } = desired;
  if (rows.project !== undefined || rows.organization_id === undefined) return [];
  const project_slug = slugOf(desired);
  const settings = differences({ ...declaredSettings(spec), ...state(desired) }, untouched);
  const name = spec.displayName ?? project_slug;
  return [
    {
      change: 'create',
      project_slug,
      organization_id: rows.organization_id,
      settings: { ...settings, name },
    },
  ];
}

function claiming({ spec, rows }: ProjectState, claim: Claim | undefined): ClaimChange[] {
  const deletion_policy = spec.deletionPolicy === 'Retain' ? 'retain' : 'suspend';
  if (claim === 'mine' && rows.project?.owner_deletion_policy === deletion_policy) return [];
  const remembered = rows.project?.callback_rotation_trigger;
  const callback_rotation_trigger = remembered ?? spec.callback?.rotationTrigger ?? null;
  const change = claim === 'unowned' && rows.project?.owner_name === null ? 'adopt' : 'claim';
  return [{ change, deletion_policy, callback_rotation_trigger }];
}

function updating(desired: ProjectState): ProjectChange[] {
  const { project } = desired.rows;
  if (project === undefined) return [];
  const wanted = { ...declaredSettings(desired.spec), ...watermark(desired), ...state(desired) };
  const settings = differences(wanted, project);
  return [
    ...(Object.keys(settings).length === 0 ? [] : [{ change: 'update', settings } as const]),
    ...dropping(desired),
  ];
}

/** A project before anything was declared: the defaults of its columns. */
const untouched: ProjectSettings = {
  name: '',
  delivery_access: 'public',
  cors_allowed_origins: [],
  resolution_presets: {},
  allowed_transform_chains: [],
  warm_presets: [],
  default_watermark_preset_id: null,
  raw_download_enabled: false,
  status: 'active',
  suspended_by: null,
  suspended_by_deletion: false,
  storage_hard_limit_bytes: null,
  nudity_auto_block: false,
};

function watermark({ spec, rows }: ProjectState): Partial<ProjectSettings> {
  if (spec.defaultWatermarkPresetRef?.name === '') return { default_watermark_preset_id: null };
  const { default_watermark_preset_id } = rows;
  return default_watermark_preset_id === undefined ? {} : { default_watermark_preset_id };
}

function dropping({ spec, rows }: ProjectState): SettingsChange[] {
  const isLeft = spec.defaultWatermarkPresetRef === undefined && rows.is_default_watermark_orphaned;
  if (!isLeft) return [];
  return [{ change: 'drop-watermark', settings: { default_watermark_preset_id: null } }];
}

function state({ spec, rows }: ProjectState): Partial<ProjectSettings> {
  const { status, suspended_by, suspended_by_deletion } = rows.project ?? untouched;
  if (spec.state === 'Suspended') {
    const declared = { suspended_by_deletion: false };
    return status === 'suspended'
      ? declared
      : { status: 'suspended', suspended_by: 'owner', ...declared };
  }
  // Resumes a project that only its resource's deletion suspended. Staff's decision is never
  // undone.
  const isWanted = spec.state === 'Active' || suspended_by_deletion;
  return isWanted && suspended_by === 'owner'
    ? { status: 'active', suspended_by: null, suspended_by_deletion: false }
    : {};
}

function callback({ spec, rows }: ProjectState, claim: Claim | undefined): ProjectChange[] {
  if (spec.callback === undefined) return [];
  const { url: callback_url, rotationTrigger: rotation_trigger = null } = spec.callback;
  const last = rows.project?.callback_rotation_trigger ?? null;
  if (callback_url === '') {
    const none = { callback_url: null, rotation_trigger: last, secret: 'keep' } as const;
    return rows.project?.callback_url == null ? [] : [{ change: 'set-callback', ...none }];
  }
  const isFirst = rows.project?.callback_url == null;
  // If no trigger was recorded, the first one of a resource that takes the project over is only
  // recorded.
  const isKnown = claim === 'mine' || last !== null;
  const isRotated = isKnown && rotation_trigger !== null && rotation_trigger !== last;
  if (!isFirst && !isRotated && rows.project?.callback_url === callback_url) return [];
  return [
    {
      change: 'set-callback',
      callback_url,
      rotation_trigger: rotation_trigger ?? last,
      secret: isFirst || isRotated ? 'new' : 'keep',
    },
  ];
}

function domains(spec: ProjectSpec, rows: ProjectRows): ProjectChange[] {
  const awaited = rows.domains_awaited.map(({ domain }) => domain);
  const wanted = spec.staff?.customDomains?.filter((domain) => !awaited.includes(domain));
  if (wanted === undefined || wanted.join() === (rows.project?.custom_domains ?? []).join())
    return [];
  return [{ change: 'set-domains', domains: wanted }];
}

// A change applies from the next full hour: earlier usage keeps its price.
function pricing({ spec, rows }: ProjectState): ProjectChange[] {
  const multiplier = spec.staff?.pricingMultiplier;
  const { read_at } = rows;
  if (
    multiplier === undefined ||
    read_at === undefined ||
    Number(multiplier) === Number(rows.project?.pricing_multiplier ?? 1)
  )
    return [];
  return [{ change: 'set-multiplier', multiplier, effective_from: nextHour(read_at) }];
}

function decideDeletion(subject: Subject<ProjectSpec>, { project }: ProjectRows): ProjectDecision {
  const isMine = project !== undefined && claimOn(project, subject.identity) === 'mine';
  if (!isMine) return changeNothing('Deleted', 'it owned no project');
  const declared = subject.spec?.deletionPolicy === 'Retain' ? 'retain' : 'suspend';
  const policy =
    subject.spec === undefined ? (project.owner_deletion_policy ?? 'suspend') : declared;
  if (policy === 'retain') {
    return {
      changes: [{ change: 'release' }],
      conditions: conditionsFor('Retained', 'the project stays as it is, without an owner'),
    };
  }
  const suspended = {
    status: 'suspended',
    suspended_by: 'owner',
    suspended_by_deletion: true,
  } as const;
  // A project that was suspended before its deletion stays so when the resource is declared again.
  const suspension: ProjectChange[] =
    project.status === 'active' ? [{ change: 'update', settings: suspended }] : [];
  return {
    changes: [...suspension, { change: 'release' }],
    conditions: conditionsFor('Deleted', 'the project is suspended; nothing of it is destroyed'),
  };
}
