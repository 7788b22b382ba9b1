/**
 * The rows of one live resource: handled by its kind's reconciler, in the organization of its namespace. Spec:
 * Organization.
 */
import { ZodError } from 'zod';
import type { RoutedProjectRow } from '../../runtime/db/routed-projects.ts';
import { type Condition, conditionsFor, outcomeOf } from '../conditions.ts';
import type { DeletionChecks, Identity, ResourceLookup, Subject } from '../declared.ts';
import { findKind } from '../kinds.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { printIssues } from '../print-issues.ts';
import type { Context, ImageScope, Result } from '../reconcile.ts';
import { watermarkPresetSpec } from '../watermark-preset/schema.ts';
import { removeCallbackSecrets, writeCallbackSecret } from './callback-secret.ts';
import { ensureImage, type ImageDeps, type ImageOutcome } from './declared-image.ts';
import { directiveOf } from './directives.ts';
import type { LostSecretNames } from './lost-secret-names.ts';
import { createMissingOwners, type MissingOwners } from './missing-owners.ts';
import type { TenantPlace } from './object-caches.ts';
import { type FindOrganization, planOrganization } from './organizations.ts';
import { secretTaken } from './secret-taken.ts';
import {
  isBeingDeleted,
  subjectOf,
  type TenantKind,
  type TenantObject,
  tenantKindOf,
} from './tenant-object.ts';
import type { WrittenStatuses } from './written-statuses.ts';

export type RowsChanged = Pick<Result, 'changes' | 'differences'>;

export type ObjectContext = Omit<
  Context,
  'organization_id' | 'writeSecret' | 'removeSecrets' | keyof ImageScope | keyof ResourceLookup
> & {
  client: KubeClient;
  events: Pick<EventRecorder, 'record'>;
  /** Called as soon as rows were written, whatever the rest of the pass does. */
  changed?: (rows: RowsChanged) => void;
  metrics: KubeMetrics;
  /** Records what each status was set to. */
  writtenStatuses?: WrittenStatuses;
  /** Names of callback Secrets that somebody removed from their Project. */
  lost_secret_names?: LostSecretNames;
  findOrganization: FindOrganization;
  /** Includes resources that are being deleted. */
  findObject(kind: string, place: TenantPlace): TenantObject | undefined;
  /** Asks the API server: a watch may not have seen new resources yet. */
  findObjectNow(kind: TenantKind, place: TenantPlace): Promise<TenantObject | undefined>;
  /** Whether this operator is responsible for the namespace. */
  watches(namespace: string): boolean;
  /** Undefined if the operator has no storage: then no preset can upload its image. */
  images?: ImageDeps | undefined;
  /** What would be written for a Project's routes, one line each. */
  planRoutes?: ((object: TenantObject) => Promise<readonly string[]>) | undefined;
  /** A Project's condition Routed; undefined if it takes a write or a request to find out. */
  judgeRoute?:
    | ((object: TenantObject, project: RoutedProjectRow | undefined) => Condition | undefined)
    | undefined;
};

type RowsResult = Result & Pick<ImageOutcome, 'isLasting'>;

/** Includes the resource after the pass, which may have recorded Secrets in a Project. */
type ObjectRows = RowsResult & { object: TenantObject };

/** Runs over the resource's rows. */
type Pass = (how?: ImageScope & Pick<Context, 'mode'>) => Promise<Result>;

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
    const { organization_id, difference } = await organizationOf(context, object);
    const scoped: Context = {
      ...rest,
      organization_id,
      ...lookupIn(namespace, context),
      ...deletionChecksIn(missing, context),
      writeSecret: async (name, value) => {
        const written = await writeCallbackSecret(client, current, { name, value });
        current = written.owner;
        if (written.outcome === 'written') return;
        taken = secretTaken({ name, namespace, holder: written.holder }, context);
      },
      removeSecrets: async () => {
        current = await removeCallbackSecrets(client, current);
      },
    };
    const pass: Pass = async (how) => {
      const seen = await reconcile(subject, { ...scoped, ...how });
      const isMoreKnown = seen.changes.length === 0 && (await missing.ask());
      return isMoreKnown ? reconcile(subject, { ...scoped, ...how }) : seen;
    };
    const passResult = await passWithImage(pass, subject, context);
    const first = difference === undefined || kind !== 'Project' ? [] : [difference];
    const differences = [...first, ...passResult.differences];
    return {
      ...passResult,
      differences,
      conditions: taken ?? passResult.conditions,
      object: current,
    };
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    const conditions = conditionsFor('SpecInvalid', printIssues(error));
    return { changes: [], differences: [], conditions, object };
  }
}

function lookupIn(
  namespace: string,
  { findObject }: ObjectContext,
): Pick<ResourceLookup, 'findUid' | 'findDeclared'> {
  // A resource that is being deleted counts as gone, or others could never release it.
  const findPresent = (kind: string, name: string) => {
    const object = findObject(kind, { namespace, name });
    return object && !isBeingDeleted(object) ? object : undefined;
  };
  return {
    findUid: (kind, name) => findPresent(kind, name)?.metadata.uid,
    findDeclared: (kind, name) => {
      const object = unlessHeld(findPresent(kind, name));
      return object && { uid: object.metadata.uid, spec: object.spec };
    },
  };
}

function deletionChecksIn(missing: MissingOwners, { findObject }: ObjectContext): DeletionChecks {
  return {
    isBeingDeleted: (kind, owner) => {
      const object = unlessHeld(findObject(kind, owner));
      return object?.metadata.uid === owner.uid && isBeingDeleted(object);
    },
    isGone: (name, owner) => {
      const kind = tenantKindOf(name);
      if (kind === undefined || findObject(kind, owner) !== undefined) return false;
      missing.note(kind, owner);
      return missing.isGone(owner);
    },
  };
}

/** A resource that asks for a plan or a pause is not to be written to. */
function unlessHeld(object: TenantObject | undefined): TenantObject | undefined {
  return object && directiveOf(object) === undefined ? object : undefined;
}

type WithImage = { identity: Identity; spec: Parameters<typeof ensureImage>[0]['spec'] };

function withImageOf({ action, identity, spec }: Subject<unknown>): WithImage | undefined {
  if (identity.kind !== 'WatermarkPreset' || action === 'delete') return undefined;
  const { image, ...parsed } = watermarkPresetSpec.parse(spec);
  return image && { identity, spec: { ...parsed, image } };
}

/**
 * Uploads the image in the middle: only when nothing else keeps the preset from being made, and
 * before its row, which needs the file.
 */
async function passWithImage(
  pass: Pass,
  subject: Subject<unknown>,
  context: ObjectContext,
): Promise<RowsResult> {
  const preset = withImageOf(subject);
  if (preset === undefined) return pass();
  const judged = await pass({ mode: 'plan-only' });
  if (isBlockedOtherwise(judged)) return judged;
  const image = await imageOf(preset, context);
  if (image === undefined) return isAsDeclared(judged) ? judged : pass();
  const isPlanned = image.difference !== undefined;
  const rows = await pass(
    isPlanned ? { coming_file_id: '(the file of the upload)' } : { is_image_awaited: true },
  );
  return { ...withImage(rows, image), ...(image.isLasting && { isLasting: true }) };
}

async function imageOf(
  { identity, spec }: WithImage,
  context: ObjectContext,
): Promise<ImageOutcome | undefined> {
  const { findUid } = lookupIn(identity.namespace, context);
  const project_uid = findUid('Project', spec.projectRef.name);
  const isPresetGone = async (place: TenantPlace) => {
    const known = context.findObject(identity.kind, place);
    if (!context.watches(place.namespace) || (known && !isBeingDeleted(known))) return false;
    const found = await context.findObjectNow('WatermarkPreset', place);
    return found === undefined || isBeingDeleted(found);
  };
  return ensureImage({ identity, spec, project_uid }, { ...context, isPresetGone });
}

function withImage(result: Result, { reason, message, difference }: ImageOutcome): Result {
  if (isBlockedOtherwise(result)) return result;
  const upload = difference === undefined ? [] : [difference];
  const differences = [...upload, ...result.differences];
  return { ...result, differences, conditions: conditionsFor(reason, message) };
}

function isAsDeclared({ changes, conditions }: Result): boolean {
  return changes.length === 0 && outcomeOf(conditions) === 'done';
}

/** Problems other than the image are reported first. */
function isBlockedOtherwise({ conditions }: Result): boolean {
  const outcome = outcomeOf(conditions);
  const ready = conditions.find(({ type }) => type === 'Ready');
  return outcome === 'refused' || outcome === 'held' || ready?.reason === 'ProjectNotFound';
}

async function organizationOf(context: ObjectContext, object: TenantObject) {
  const { db, mode, findOrganization } = context;
  const { namespace = '' } = object.metadata;
  // What goes needs none: in a database that was made anew it would be a trial for nobody.
  if (isBeingDeleted(object)) return { organization_id: '', difference: undefined };
  if (mode === 'plan-only') return planOrganization(db, namespace);
  return { organization_id: await findOrganization(db, namespace), difference: undefined };
}
