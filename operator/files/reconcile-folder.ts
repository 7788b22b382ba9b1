/**
 * One pass over a folder of YAML: reconciles every resource that it declares, and treats a row whose resource is no
 * longer declared as one of a deleted resource. The owner columns of the rows record earlier passes, so that a restart
 * forgets nothing.
 */
import { listOwners } from '../../runtime/db/declared-rows.ts';
import { type Outcome, outcomeOf } from '../conditions.ts';
import type { Identity, ResourceLookup, Subject } from '../declared.ts';
import { findKind, kinds } from '../kinds.ts';
import type { Context, Result } from '../reconcile.ts';
import type { RowDifference } from '../row-difference.ts';
import { FOLDER_UID_PREFIX, identify } from './check-document.ts';
import type { Fault, Note } from './fault.ts';
import { type Folder, loadFolder } from './load.ts';

export type PassReport = {
  resources: ResourceReport[];
  faults: Fault[];
  notes: Note[];
  /** The total number of changes written. */
  changes: number;
};

/** `failed`: an error interrupted the resource; the next pass retries it. */
export type ResourceReport = {
  identity: Identity;
  /** Where it is declared; undefined for a resource that is gone. */
  place?: { file: string; line: number } | undefined;
  action: 'declare' | 'delete';
  outcome: Outcome | 'failed';
  reason: string;
  message: string;
  /** As declared, to tell a new declaration from one that was in effect before. */
  spec: unknown;
  changes: readonly string[];
  differences: readonly RowDifference[];
  error?: unknown;
};

/** A secret is kept with the name of its Project, which has one at a time. */
export type FolderContext = Omit<
  Context,
  keyof ResourceLookup | 'writeSecret' | 'removeSecrets'
> & {
  writeSecret(secret: { name: string; value: string; project: string }): Promise<void>;
  removeSecrets(project: string): Promise<void>;
  /** Awaited before the folder is read again, and what is still missing counts as deleted. */
  beforeDeletions?: (() => Promise<void>) | undefined;
};

type PassContext = FolderContext & ResourceLookup;

// A resource that waits for a later one, or collides with what one releases, is tried again within
// the pass, up to this many rounds.
const ROUNDS_MAX = 4;

export async function reconcileFolder(path: string, context: FolderContext): Promise<PassReport> {
  const namespace = context.organization_id;
  const { folder, gone } = await lookAt(path, context);
  const finding = lookupIn(folder, namespace);

  const reports = new Map<string, ResourceReport>();
  let pending = [...gone, ...declared(folder)];
  for (let round = 1; round <= ROUNDS_MAX && pending.length > 0; round++) {
    const passed = await runRound(pending, { ...context, ...finding });
    for (const report of passed) merge(reports, report);
    if (!passed.some(({ changes }) => changes.length > 0)) break;
    pending = pending.filter((_, index) => isOpen(passed[index]));
  }
  const places = new Map(
    folder.resources.map(({ identity, file, line }) => [identity.uid, { file, line }]),
  );
  const resources = [...reports.values()].map((report) => ({
    ...report,
    place: places.get(report.identity.uid),
  }));
  const changes = resources.reduce((sum, report) => sum + report.changes.length, 0);
  return { resources, faults: folder.faults, notes: folder.notes, changes };
}

/** Editors and copies replace a file by removing it first, so what is missing is looked for twice. */
async function lookAt(path: string, context: FolderContext): Promise<Seen> {
  const look = async () => {
    const folder = await loadFolder(path, context.organization_id);
    return { folder, gone: await listGone(folder, context) };
  };
  const seen = await look();
  if (seen.gone.length === 0 || context.beforeDeletions === undefined) return seen;
  await context.beforeDeletions();
  return look();
}

function isOpen(report: ResourceReport | undefined): boolean {
  return report?.outcome === 'waiting' || report?.outcome === 'refused';
}

type Pending = Subject<unknown>[];
type Seen = { folder: Folder; gone: Pending };

/** In the order of the kinds: a project before the resources that belong to it. */
function declared({ resources }: Folder): Pending {
  return kinds.flatMap(({ kind }) =>
    resources
      .filter(({ identity }) => identity.kind === kind)
      .map(({ identity, spec }) => ({ action: 'declare' as const, identity, spec })),
  );
}

/** Owners in the database that no document declares; empty while a document is unreadable. */
async function listGone(
  folder: Folder,
  { db, organization_id: namespace }: FolderContext,
): Promise<Pending> {
  if (!folder.isComplete) return [];
  const owners = await listOwners(db, { namespace, uid_prefix: FOLDER_UID_PREFIX });
  return owners
    .filter(({ uid }) => !folder.present.has(uid))
    .map((identity) => ({ action: 'delete' as const, identity, spec: undefined }));
}

function lookupIn(folder: Folder, namespace: string): ResourceLookup {
  const specs = new Map(folder.resources.map(({ identity, spec }) => [identity.uid, spec]));
  const uidOf = (kind: string, name: string) => identify({ namespace, kind, name }).uid;
  return {
    findUid: (kind, name) => {
      const uid = uidOf(kind, name);
      return folder.present.has(uid) || !folder.isComplete ? uid : undefined;
    },
    findDeclared: (kind, name) => {
      const uid = uidOf(kind, name);
      return specs.has(uid) ? { uid, spec: specs.get(uid) } : undefined;
    },
    isBeingDeleted: (kind, { name, uid }) =>
      folder.isComplete && uid === uidOf(kind, name) && !folder.present.has(uid),
    // A resource that no document declares is deleted in this same pass.
    isGone: () => false,
  };
}

async function runRound(pending: Pending, context: PassContext): Promise<ResourceReport[]> {
  const reports: ResourceReport[] = [];
  for (const subject of pending) reports.push(await runOne(subject, context));
  return reports;
}

async function runOne(subject: Subject<unknown>, context: PassContext): Promise<ResourceReport> {
  const { identity } = subject;
  try {
    const reconcile = findKind(identity.kind)?.reconcile;
    if (reconcile === undefined) throw new Error(`no reconciler for ${identity.kind}`);
    return describe(subject, await reconcile(subject, scopeOf(identity, context)));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const failed = { outcome: 'failed', reason: 'Failed', message, error } as const;
    return { ...subject, ...failed, changes: [], differences: [] };
  }
}

function scopeOf(
  { name: project }: Identity,
  { writeSecret, removeSecrets, ...rest }: PassContext,
): Context {
  return {
    ...rest,
    writeSecret: (name, value) => writeSecret({ name, value, project }),
    removeSecrets: () => removeSecrets(project),
  };
}

function describe(subject: Subject<unknown>, result: Result): ResourceReport {
  const { conditions, changes, differences } = result;
  const ready = conditions.find(({ type }) => type === 'Ready');
  const { reason = 'Unknown', message = '' } = ready ?? {};
  return { ...subject, outcome: outcomeOf(conditions), reason, message, changes, differences };
}

function merge(reports: Map<string, ResourceReport>, report: ResourceReport): void {
  const earlier = reports.get(report.identity.uid);
  reports.set(report.identity.uid, {
    ...report,
    changes: [...(earlier?.changes ?? []), ...report.changes],
    differences: [...(earlier?.differences ?? []), ...report.differences],
  });
}
