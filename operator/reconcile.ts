/**
 * One pass over one resource, the same for every kind: gather what the rows say, decide what has to
 * change, apply it. Level-based: it may run any number of times, and where nothing has to change it
 * writes nothing and locks nothing.
 */
import type { z } from 'zod';
import type { Database, Queryable, Transaction } from '../runtime/db/client.ts';
import type { Clock } from '../runtime/platform/clock.ts';
import type { Sealing } from '../runtime/platform/sealing.ts';
import type { Condition } from './conditions.ts';
import type { FindUid, Subject } from './declared.ts';

export type Decision<Change> = { changes: readonly Change[]; conditions: Condition[] };

export type Result = { changes: number; conditions: Condition[] };

export type Reconciler = (subject: Subject<unknown>, context: Context) => Promise<Result>;

export type Context = {
  db: Database;
  clock: Clock;
  sealing: Sealing;
  /** The organization of the resource's namespace. */
  organization_id: string;
  /** No custom domain may lie under it. */
  delivery_root_domain?: string;
  findUid: FindUid;
  /** Hands a secret to whoever declared it. May be called again with the same value. */
  writeSecret: WriteSecret;
};

export type WriteSecret = (name: string, value: string) => Promise<void>;

/** What `gather` reads, and under which project: the one thing that a pass locks. */
export type Gathered = { project: { project_id: string } | undefined };

export type Scope = Pick<Context, 'organization_id' | 'delivery_root_domain' | 'findUid'>;
export type Deed<Spec> = { subject: Subject<Spec>; now: Date; sealing: Sealing };

export type Steps<Spec, Rows extends Gathered, Change> = {
  spec: z.ZodType<Spec>;
  gather(db: Queryable, subject: Subject<Spec>, scope: Scope): Promise<Rows>;
  decide(subject: Subject<Spec>, rows: Rows, now: Date): Decision<Change>;
  apply(tx: Transaction, changes: readonly Change[], deed: Deed<Spec>): Promise<void>;
  /** What reaches beyond the database, once the rows are as declared. */
  settle?(subject: Subject<Spec>, context: Context): Promise<void>;
};

export function reconciler<Spec, Rows extends Gathered, Change>(
  steps: Steps<Spec, Rows, Change>,
): Reconciler {
  return async (declared, context) => {
    const subject = withSpec(declared, steps.spec);
    const result = await settleRows(steps, subject, context);
    await steps.settle?.(subject, context);
    return result;
  };
}

async function settleRows<Spec, Rows extends Gathered, Change>(
  steps: Steps<Spec, Rows, Change>,
  subject: Subject<Spec>,
  context: Context,
): Promise<Result> {
  const now = context.clock.now();
  const rows = await steps.gather(context.db, subject, context);
  const first = steps.decide(subject, rows, now);
  if (first.changes.length === 0) return { changes: 0, conditions: first.conditions };

  return context.db.transaction(async (tx) => {
    if (rows.project !== undefined) await lockProject(tx, rows.project.project_id);
    // Decided again under the lock: staff may have suspended the project in between.
    const locked = await steps.gather(tx, subject, context);
    const { changes, conditions } = steps.decide(subject, locked, now);
    await steps.apply(tx, changes, { subject, now, sealing: context.sealing });
    return { changes: changes.length, conditions };
  });
}

function withSpec<Spec>(subject: Subject<unknown>, schema: z.ZodType<Spec>): Subject<Spec> {
  const { identity } = subject;
  if (subject.action === 'declare') {
    return { action: 'declare', identity, spec: schema.parse(subject.spec) };
  }
  const spec = subject.spec === undefined ? undefined : schema.parse(subject.spec);
  return { action: 'delete', identity, spec };
}

async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.query('select 1 from projects where project_id = $1 for update', [projectId]);
}
