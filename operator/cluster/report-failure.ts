/** Reports in a resource's conditions what keeps it from being reconciled, and keeps what was found before. */
import { NO_SETTINGS, SettingsUnknown } from '../api-settings.ts';
import { type Condition, conditionsFor, type Reason } from '../conditions.ts';
import type { DatabaseProblem } from './database-gate.ts';
import { directiveOf } from './directives.ts';
import { pause } from './reconcile-object.ts';
import { refusalOf } from './refusal.ts';
import { factsOf, statusOf, withKept } from './status.ts';
import type { TenantState } from './tenant-controllers.ts';
import type { TenantKind, TenantObject } from './tenant-object.ts';
import { writeStatus } from './write-status.ts';

export type TenantResource = { kind: TenantKind; object: TenantObject };

const DATABASE_PROBLEMS: Readonly<Record<DatabaseProblem, string>> = {
  DatabaseUnavailable:
    'the database does not answer: what is delivered stays as it was, and the operator tries again by itself',
  SchemaNotReady:
    'the database lacks migrations of this version: an ImageService brings it up to date, and so does `tintype migrate`; the operator tries again by itself',
};

export function reportUnavailable(
  state: TenantState,
  { problem, ...known }: TenantResource & { problem: DatabaseProblem },
): Promise<void> {
  return report(state, known, withoutAccepted(problem, DATABASE_PROBLEMS[problem]));
}

/** Without a pass, Accepted keeps its previous value. */
function withoutAccepted(reason: Reason, message: string): Condition[] {
  return conditionsFor(reason, message).filter(({ type }) => type !== 'Accepted');
}

/** The pass still fails, and is retried later. */
export async function reportFailure(
  state: TenantState,
  { error, ...known }: TenantResource & { error: unknown },
): Promise<void> {
  const conditions = conditionsOf(error);
  if (conditions === undefined) return;
  await report(state, known, conditions).catch((failure) => {
    state.log.warn('a failure could not be reported in the status of a resource', {
      kind: known.kind,
      error: failure,
    });
  });
}

function conditionsOf(error: unknown): Condition[] | undefined {
  if (error instanceof SettingsUnknown) return withoutAccepted('SettingsUnknown', NO_SETTINGS);
  const refusal = refusalOf(error);
  if (refusal === undefined) return undefined;
  return conditionsFor('WriteRefused', `${refusal}; the operator tries again by itself`);
}

/** Reports a problem of the whole resource, and keeps its earlier facts and conditions. */
async function report(
  { context, clock }: TenantState,
  { kind, object }: TenantResource,
  conditions: readonly Condition[],
): Promise<void> {
  const directive = directiveOf(object);
  // Paused is true with or without a database.
  if (directive === 'paused') {
    await pause(kind, object, context);
    return;
  }
  const said = statusOf(object, { conditions, facts: factsOf(object) }, clock.now());
  const accepted = withKept(object, said, 'Accepted');
  const status = directive === 'plan-only' ? withKept(object, accepted, 'Planned') : accepted;
  await writeStatus(kind, { object, status }, context);
}
