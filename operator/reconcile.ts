/**
 * One pass over one resource, the same for every kind: gather the rows, decide what must change, apply it. Level-based:
 * it may run any number of times, and if nothing must change it writes and locks nothing.
 */
import type { z } from 'zod';
import type { Database, Queryable, Transaction } from '../runtime/db/client.ts';
import { lockProject, type ProjectRow } from '../runtime/db/projects.ts';
import { type Clock, fixedClock } from '../runtime/platform/clock.ts';
import type { Sealing } from '../runtime/platform/sealing.ts';
import { auditChanges } from './audit-changes.ts';
import { type Condition, outcomeOf } from './conditions.ts';
import type { ResourceLookup, Subject } from './declared.ts';
import type { RowDifference } from './row-difference.ts';

/** Every change has a word that says what it does. */
type Named = { change: string };

export type Decision<Change> = { changes: readonly Change[]; conditions: Condition[] };

export type Result = {
  changes: readonly string[];
  conditions: Condition[];
  /** What the changes do to rows; with `plan-only` what they would have done. */
  differences: readonly RowDifference[];
};

export type Reconciler = (subject: Subject<unknown>, context: Context) => Promise<Result>;

/** For a preset that declares its image. */
export type ImageScope = {
  /** In a plan: the file of an upload that would be made, if its slug has no file yet. */
  coming_file_id?: string | undefined;
  /**
   * The file of its slug, if any, is not the declared image: the preset keeps its current file, or
   * waits if it has none.
   */
  is_image_awaited?: boolean;
};

export type Context = ResourceLookup &
  ImageScope & {
    db: Database;
    clock: Clock;
    sealing: Sealing;
    /** The organization of the resource's namespace. */
    organization_id: string;
    /** No custom domain may be below it. */
    delivery_root_domain: string | undefined;
    /** Where webhooks may go; undefined: public addresses only. */
    callback_egress?: 'public' | 'any' | undefined;
    writeSecret: WriteSecret;
    /** Deletes the secrets that were handed over; undefined if nobody keeps track of them. */
    removeSecrets?: (() => Promise<void>) | undefined;
    /** `plan-only`: reports what would change, and writes nothing. */
    mode?: 'apply' | 'plan-only';
  };

/** Gives a secret to the resource that declares it. May be called again with the same value. */
export type WriteSecret = (name: string, value: string) => Promise<void>;

export type Scope = ResourceLookup &
  Pick<Context, 'organization_id' | 'delivery_root_domain' | 'callback_egress' | keyof ImageScope>;

/** What `gather` reads, with its project: the only thing that a pass locks. */
export type Gathered = { project: { project_id: string } | undefined };

export type ApplyContext<Spec> = {
  subject: Subject<Spec>;
  /** Locked; undefined if this pass creates it. */
  project: ProjectRow | undefined;
  sealing: Sealing;
  clock: Clock;
};

export type Steps<Spec, Rows extends Gathered, Change extends Named> = {
  spec: z.ZodType<Spec>;
  gather(db: Queryable, subject: Subject<Spec>, scope: Scope): Promise<Rows>;
  decide(subject: Subject<Spec>, rows: Rows, now: Date): Decision<Change>;
  /** What a change does to rows that are unchanged since they were read. */
  differences(change: Change, subject: Subject<Spec>, rows: Rows): RowDifference[];
  /** Runs in one transaction; returns the changed project. */
  apply(
    tx: Transaction,
    changes: readonly Change[],
    context: ApplyContext<Spec>,
  ): Promise<ProjectRow>;
  /** Effects beyond the database, once the rows are as declared. */
  settle?(subject: Subject<Spec>, context: Context): Promise<void>;
};

export function reconciler<Spec, Rows extends Gathered, Change extends Named>(
  steps: Steps<Spec, Rows, Change>,
): Reconciler {
  return async (declared, context) => {
    const subject = withSpec(declared, steps.spec);
    const result = await reconcileRows(steps, subject, context);
    const isSettled = context.mode !== 'plan-only' && outcomeOf(result.conditions) !== 'refused';
    if (isSettled) await steps.settle?.(subject, context);
    return result;
  };
}

async function reconcileRows<Spec, Rows extends Gathered, Change extends Named>(
  steps: Steps<Spec, Rows, Change>,
  subject: Subject<Spec>,
  context: Context,
): Promise<Result> {
  const { db, sealing, mode } = context;
  const now = context.clock.now();
  // Decision, changes and reports share one time; a price takes the time at which its rows were
  // read.
  const clock = fixedClock(now);
  const rows = await steps.gather(db, subject, context);
  const first = steps.decide(subject, rows, now);
  if (first.changes.length === 0 || mode === 'plan-only') {
    return resultOf(steps, first, { subject, rows });
  }

  return db.transaction(async (tx) => {
    const project = rows.project && (await lockProject(tx, rows.project.project_id));
    // Decided again under the lock: staff may have suspended the project in between.
    const locked = await steps.gather(tx, subject, context);
    const decision = steps.decide(subject, locked, now);
    const result = resultOf(steps, decision, { subject, rows: locked });
    const { changes } = decision;
    if (changes.length > 0) {
      const changed = await steps.apply(tx, changes, { subject, project, sealing, clock });
      await auditChanges(tx, { subject, changed, changes, differences: result.differences });
    }
    return result;
  });
}

function resultOf<Spec, Rows extends Gathered, Change extends Named>(
  { differences }: Steps<Spec, Rows, Change>,
  { changes, conditions }: Decision<Change>,
  { subject, rows }: { subject: Subject<Spec>; rows: Rows },
): Result {
  return {
    changes: changes.map(({ change }) => change),
    conditions,
    differences: changes.flatMap((change) => differences(change, subject, rows)),
  };
}

function withSpec<Spec>(subject: Subject<unknown>, schema: z.ZodType<Spec>): Subject<Spec> {
  const { identity } = subject;
  if (subject.action === 'declare') {
    return { action: 'declare', identity, spec: schema.parse(subject.spec) };
  }
  const spec = subject.spec === undefined ? undefined : schema.parse(subject.spec);
  return { action: 'delete', identity, spec };
}

/** The project of a change that requires one. */
export function presentProject(project: ProjectRow | undefined): ProjectRow {
  // Another transaction took the slug, or the row, between reading and writing: the next pass sees
  // it.
  if (project === undefined) throw new Error('the project changed hands during the pass');
  return project;
}
