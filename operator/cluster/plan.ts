/** The condition Planned: every row, Secret and route that would change, while a resource asks for the plan only. */
import { type Condition, conditionsFor, outcomeOf } from '../conditions.ts';
import type { Result } from '../reconcile.ts';
import { countChanges, joinLines, printDifference } from '../row-difference.ts';
import { PLAN_ONLY } from './directives.ts';

/** If nothing would change, the other conditions stay as they would be without a plan. */
export function withPlan(
  { conditions, differences }: Result,
  others: readonly string[],
): Condition[] {
  const lines = [...differences.map(printDifference), ...others];
  if (lines.length === 0 || outcomeOf(conditions) === 'refused') {
    return [...conditions, emptyPlan(conditions)];
  }
  const waiting = `${countChanges(lines.length)} planned and listed in the condition Planned: remove the annotation \`${PLAN_ONLY}\` to apply them`;
  // A pass that writes would end in SecretTaken too.
  const isTaken = conditions.some(({ reason }) => reason === 'SecretTaken');
  return [
    ...(isTaken ? conditions : conditionsFor('PlanOnly', waiting)),
    { type: 'Planned', status: 'True', reason: 'ChangesPlanned', message: joinLines(lines) },
  ];
}

function emptyPlan(conditions: readonly Condition[]): Condition {
  const nothing = { type: 'Planned', status: 'False', reason: 'NothingToChange' } as const;
  const outcome = outcomeOf(conditions);
  if (outcome === 'refused') {
    return { ...nothing, message: 'nothing would be written: the resource is not accepted' };
  }
  if (outcome === 'done') {
    return { ...nothing, message: 'nothing would change: rows and routes are as declared' };
  }
  const why = conditions.find(({ type }) => type === 'Ready')?.message;
  if (outcome === 'held') return { ...nothing, message: `nothing would be written: ${why}` };
  const message = `what would change is not known yet: ${why}`;
  return { type: 'Planned', status: 'Unknown', reason: 'Blocked', message };
}
