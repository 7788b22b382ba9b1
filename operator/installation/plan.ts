/** What an ImageService would change, while it asks for the plan only: one line per object, in a condition. */

import { type Condition, conditionsOf } from '../image-service/conditions.ts';
import { printPath } from '../image-service/find-difference.ts';
import { countChanges, joinLines } from '../row-difference.ts';
import type { ObjectChange } from './apply-steps.ts';
import type { StatusInput } from './status.ts';

const SIGNS = { create: '+', update: '~', delete: '-' } as const;
/** How a version is rolled out depends on the state at that time. */
const AFTER_MIGRATION =
  '… and, once that Job has migrated the database, the objects of this version: workers and dispatcher, then API and delivery';

/** `planned` is undefined if something must be fixed before anything can be decided. */
export function withPlan(
  conditions: readonly Condition[],
  planned: readonly ObjectChange[] | undefined,
): StatusInput['conditions'] {
  if (planned === undefined) {
    const why = conditions.find(({ type }) => type === 'Ready')?.message;
    const message = `What would change is not known until this is fixed: ${why}`;
    return [...conditions, { type: 'Planned', status: 'Unknown', reason: 'Blocked', message }];
  }
  if (planned.length === 0) {
    const message = 'Nothing would change: every object is as declared, or waits for something.';
    return [
      ...conditions,
      { type: 'Planned', status: 'False', reason: 'NothingToChange', message },
    ];
  }
  const isMigrating = planned.some(({ change, kind }) => change === 'create' && kind === 'Job');
  const lines = [...planned.map(printPlanned), ...(isMigrating ? [AFTER_MIGRATION] : [])];
  const message = `${countChanges(planned.length)} planned and listed in the condition Planned: remove the annotation tintype.dev/plan-only to apply them.`;
  const others = conditions.filter(({ type }) => !SUMMARY.includes(type));
  const waiting = conditionsOf([{ type: 'Applied', reason: 'PlanOnly', message }]);
  return [
    ...waiting,
    ...others.filter(({ type }) => type !== 'Applied'),
    {
      ...{ type: 'Planned', status: 'True', reason: 'ChangesPlanned' },
      message: joinLines(lines),
    },
  ];
}

const SUMMARY: readonly string[] = ['Ready', 'Reconciling', 'Stalled'];

function printPlanned({ change, kind, name, path }: ObjectChange): string {
  const where = path === undefined ? '' : ` (${printPath(path)} differs)`;
  return `${SIGNS[change]} ${kind} ${name}${where}`;
}
