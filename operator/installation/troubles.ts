/** Objects that could not be written, in the conditions of the parts that they would have been. */
import { type Condition, type PartType, withFinding } from '../image-service/conditions.ts';
import { partOf } from '../image-service/findings.ts';
import type { Trouble } from './object-trouble.ts';

export function withTroubles(conditions: Condition[], troubles: readonly Trouble[]): Condition[] {
  const [first] = troubles;
  if (first === undefined) return conditions;
  const message = troubles.map((each) => each.message).join(' ');
  const applied = withFinding(conditions, { type: 'Applied', reason: first.reason, message });
  // The first of a part speaks for it.
  return troubles.toReversed().reduce((told, { kind, name, ...trouble }) => {
    const type = speakers[kind] ?? findUnwritten(told, { kind, name });
    return type === undefined ? told : withFinding(told, { type, ...trouble });
  }, applied);
}

/** Where an object has a condition of its own: rendered, it was taken for one that is about to be. */
const speakers: Readonly<Partial<Record<string, PartType>>> = {
  Job: 'MigrationComplete',
  Ingress: 'Routed',
  HTTPRoute: 'Routed',
};

/** What is there does what it did, whatever it was not told. */
function findUnwritten(
  conditions: readonly Condition[],
  object: Pick<Trouble, 'kind' | 'name'>,
): PartType | undefined {
  const type = partOfObject(object);
  const said = conditions.find((each) => each.type === type);
  return said?.reason === 'NotApplied' ? type : undefined;
}

function partOfObject({ kind, name }: Pick<Trouble, 'kind' | 'name'>): PartType | undefined {
  if (kind === 'CronJob') return 'CronJobsScheduled';
  return kind === 'Deployment' ? partOf(name) : undefined;
}
