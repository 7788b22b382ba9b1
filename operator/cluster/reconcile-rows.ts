/** The rows of one live resource: by the reconciler of its kind, in the organization of its namespace. Spec: Organization. */
import { ZodError } from 'zod';
import type { RoutedProjectRow } from '../../runtime/db/routed-projects.ts';
import { type Condition, conditionsFor, outcomeOf } from '../conditions.ts';
import type { Finding, Leaving, Subject } from '../declared.ts';
import { refuseDefaults } from '../default-names.ts';
import { findKind } from '../kinds.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { printIssues } from '../print-issues.ts';
import type { Context, Result } from '../reconcile.ts';
import { watermarkPresetSpec } from '../watermark-preset/schema.ts';
import { removeCallbackSecrets, writeCallbackSecret } from './callback-secret.ts';
import { bringImage, type ImageDeps, type ImageFound } from './declared-image.ts';
import { directiveOf } from './directives.ts';
import type { LostNotes } from './lost-notes.ts';
import { createMissingOwners, type MissingOwners } from './missing-owners.ts';
import type { TenantPlace } from './object-caches.ts';
import { type FindOrganization, planOrganization } from './organizations.ts';
import { secretTaken } from './secret-taken.ts';
import {
  isGoing,
  subjectOf,
  type TenantKind,
  type TenantObject,
  tenantTypes,
} from './tenant-object.ts';
import type { ToldStatuses } from './told-statuses.ts';

export type RowsChanged = Pick<Result, 'changes' | 'differences'>;

export type ObjectContext = Omit<
  Context,
  'organization_id' | 'writeSecret' | 'removeSecrets' | 'coming_file_id' | keyof Finding
> & {
  client: KubeClient;
  events: Pick<EventRecorder, 'tell'>;
  /** Told at once of what was written to the rows, whatever becomes of the rest of the pass. */
  changed?: (told: RowsChanged) => void;
  metrics: KubeMetrics;
  /** What is said in each status is noted there. */
  told?: ToldStatuses;
  /** Of callback Secrets, where somebody took them off their Project. */
  lost_notes?: LostNotes;
  findOrganization: FindOrganization;
  /** Also what is being deleted. */
  findObject(kind: string, place: TenantPlace): TenantObject | undefined;
  /** By the word of the API server: a watch may not have heard of what is new. */
  findObjectNow(kind: TenantKind, place: TenantPlace): Promise<TenantObject | undefined>;
  /** Whether resources of this namespace are this operator's. */
  watches(namespace: string): boolean;
  /** Undefined where the operator was given no storage: then no preset can bring its image. */
  images?: ImageDeps | undefined;
  /** What would be written for the routes of a Project, one line each. */
  planRoutes?: ((object: TenantObject) => Promise<readonly string[]>) | undefined;
  /** The condition Routed of a Project; undefined where something has to be written or asked first. */
  judgeRoute?:
    | ((object: TenantObject, project: RoutedProjectRow | undefined) => Condition | undefined)
    | undefined;
};

/** With the resource as it is afterwards: the Secrets of a Project are noted at it. */
type ObjectRows = Result & { object: TenantObject } & Pick<ImageFound, 'isLasting'>;

export async function reconcileRows(
  kind: TenantKind,
  object: TenantObject,
  context: ObjectContext,
): Promise<ObjectRows> {
  const reconcile = findKind(kind)?.reconcile;
  if (reconcile === undefined) throw new Error(`no reconciler for ${kind}`);
  const { namespace = '' } = object.metadata;
  let taken: Condition[] | undefined;
  let current = object;
  try {
    const { client, findOrganization: _, findObject: __, findObjectNow: ___, ...rest } = context;
    const missing = createMissingOwners(context);
    const subject = subjectOf(kind, object);
    const image = await imageOf(subject, context);
    const { organization_id, difference } = await organizationOf(context, namespace);
    const scoped: Context = {
      ...rest,
      organization_id,
      coming_file_id: image?.difference && '(the file of the upload)',
      ...findingIn(namespace, context),
      ...leavingIn(missing, context),
      writeSecret: async (name, value) => {
        const written = await writeCallbackSecret(client, current, { name, value });
        current = written.owner;
        if (written.outcome === 'written') return;
        const findProject = (project: string) =>
          context.findObject('Project', { namespace, name: project });
        taken = secretTaken({ name, holder: written.holder }, findProject);
      },
      removeSecrets: async () => {
        current = await removeCallbackSecrets(client, current);
      },
    };
    const seen = await reconcile(subject, scoped);
    const isMoreKnown = seen.changes.length === 0 && (await missing.ask());
    const result = isMoreKnown ? await reconcile(subject, scoped) : seen;
    const first = difference === undefined || kind !== 'Project' ? [] : [difference];
    const rows = { ...result, differences: [...first, ...result.differences] };
    const told = image === undefined ? rows : withImage(rows, image);
    const conditions = taken ?? told.conditions;
    return { ...told, conditions, object: current, ...(image?.isLasting && { isLasting: true }) };
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    const conditions = conditionsFor('SpecInvalid', printIssues(error));
    return { changes: [], differences: [], conditions, object };
  }
}

function findingIn(
  namespace: string,
  { findObject }: ObjectContext,
): Pick<Finding, 'findUid' | 'findDeclared'> {
  // What is going counts as gone, as others could never let go of it otherwise.
  const findPresent = (kind: string, name: string) => {
    const object = findObject(kind, { namespace, name });
    return object && !isGoing(object) ? object : undefined;
  };
  return {
    findUid: (kind, name) => findPresent(kind, name)?.metadata.uid,
    findDeclared: (kind, name) => {
      const object = acting(findPresent(kind, name));
      return object && { uid: object.metadata.uid, spec: object.spec };
    },
  };
}

function leavingIn(missing: MissingOwners, { findObject }: ObjectContext): Leaving {
  return {
    isGoing: (kind, owner) => {
      const object = acting(findObject(kind, owner));
      return object?.metadata.uid === owner.uid && isGoing(object);
    },
    isGone: (kind, owner) => {
      const type = tenantTypes.find((each) => each.kind === kind);
      if (type === undefined || findObject(kind, owner) !== undefined) return false;
      missing.note(type.kind, owner);
      return missing.isGone(owner);
    },
  };
}

/** What asks for a plan or a pause is not written by anybody. */
function acting(object: TenantObject | undefined): TenantObject | undefined {
  return object && directiveOf(object) === undefined ? object : undefined;
}

/** Before the rows: a preset is made once its file is there. */
async function imageOf(
  { action, identity, spec }: Subject<unknown>,
  context: ObjectContext,
): Promise<ImageFound | undefined> {
  if (identity.kind !== 'WatermarkPreset' || action === 'delete') return undefined;
  const parsed = watermarkPresetSpec.parse(spec);
  const { image, projectRef } = parsed;
  const isRefused = refuseDefaults(identity, parsed, ['fileSlug']) !== undefined;
  if (image === undefined || isRefused) return undefined;
  const { namespace } = identity;
  const { findUid } = findingIn(namespace, context);
  const project_uid = findUid('Project', projectRef.name);
  const isPresetGone = async (place: TenantPlace) => {
    const known = context.findObject(identity.kind, place);
    if (!context.watches(place.namespace) || (known && !isGoing(known))) return false;
    const found = await context.findObjectNow('WatermarkPreset', place);
    return found === undefined || isGoing(found);
  };
  const bringing = { identity, spec: { ...parsed, image }, project_uid };
  return bringImage(bringing, { ...context, isPresetGone });
}

/** What stands against the preset apart from its image is said first. */
function withImage(result: Result, { reason, message, difference }: ImageFound): Result {
  const outcome = outcomeOf(result.conditions);
  const ready = result.conditions.find(({ type }) => type === 'Ready');
  const isApart =
    outcome === 'refused' || outcome === 'held' || ready?.reason === 'ProjectNotFound';
  if (isApart) return result;
  const upload = difference === undefined ? [] : [difference];
  const differences = [...upload, ...result.differences];
  return { ...result, differences, conditions: conditionsFor(reason, message) };
}

async function organizationOf(context: ObjectContext, namespace: string) {
  const { db, mode, findOrganization } = context;
  if (mode === 'plan-only') return planOrganization(db, namespace);
  return { organization_id: await findOrganization(db, namespace), difference: undefined };
}
