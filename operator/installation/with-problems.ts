/** Reports objects that could not be written in the conditions of their parts. */
import { type Condition, type PartType, withFinding } from '../image-service/conditions.ts';
import { partOf } from '../image-service/findings.ts';
import type { ObjectProblem } from './object-problem.ts';

export function withProblems(
  conditions: Condition[],
  problems: readonly ObjectProblem[],
): Condition[] {
  const [first] = problems;
  if (first === undefined) return conditions;
  const message = problems.map((each) => each.message).join(' ');
  const applied = withFinding(conditions, { type: 'Applied', reason: first.reason, message });
  // Reversed, so that a part's first problem is the one reported.
  return problems.toReversed().reduce((reported, { kind, name, ...problem }) => {
    const type = ownConditionTypes[kind] ?? findUnwritten(reported, { kind, name });
    return type === undefined ? reported : withFinding(reported, { type, ...problem });
  }, applied);
}

/** Kinds with a condition of their own, even if a rendered object counts as about to be written. */
const ownConditionTypes: Readonly<Partial<Record<string, PartType>>> = {
  Job: 'MigrationComplete',
  Ingress: 'Routed',
  HTTPRoute: 'Routed',
};

/** Only a missing object affects its part's condition: an existing one keeps working as it was. */
function findUnwritten(
  conditions: readonly Condition[],
  object: Pick<ObjectProblem, 'kind' | 'name'>,
): PartType | undefined {
  const type = partOfObject(object);
  const said = conditions.find((each) => each.type === type);
  return said?.reason === 'NotApplied' ? type : undefined;
}

function partOfObject({ kind, name }: Pick<ObjectProblem, 'kind' | 'name'>): PartType | undefined {
  if (kind === 'CronJob') return 'CronJobsScheduled';
  return kind === 'Deployment' ? partOf(name) : undefined;
}
