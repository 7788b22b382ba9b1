// How objects that could not be written change the conditions of their parts.
import { describe, expect, it } from 'vitest';
import { conditionsOf, type Finding } from '../../../operator/image-service/conditions.ts';
import type { ObjectProblem } from '../../../operator/installation/object-problem.ts';
import { withProblems } from '../../../operator/installation/with-problems.ts';

const message = 'exists and was not created by the operator';
const taken = (kind: string, name: string): ObjectProblem => {
  return { kind, name, reason: 'ObjectTaken', message };
};

function reported(findings: Finding[], ...problems: ObjectProblem[]): Record<string, string> {
  const conditions = withProblems(conditionsOf(findings), problems);
  return Object.fromEntries(conditions.map(({ type, reason }) => [type, reason]));
}

describe('an object that could not be written', () => {
  const unwritten = { reason: 'NotApplied', message: 'It is being written.' } as const;

  it.each([
    ['Deployment', 'main-api', 'ApiAvailable'],
    ['Deployment', 'main-worker-render', 'WorkersAvailable'],
    ['CronJob', 'main-retention', 'CronJobsScheduled'],
  ] as const)(
    'sets the condition of its component if nothing else does: %s %s',
    (kind, name, type) => {
      expect(reported([{ type, ...unwritten }], taken(kind, name))).toMatchObject({
        ...{ [type]: 'ObjectTaken', Applied: 'ObjectTaken' },
        ...{ Ready: 'ObjectTaken', Stalled: 'ObjectTaken' },
      });
    },
  );

  it('does not override the condition of a running component or of another one', () => {
    const runs = { type: 'ApiAvailable', reason: 'Available', message: '2 of 2' } as const;
    expect(reported([runs], taken('Deployment', 'main-api'))).toMatchObject({
      ...{ ApiAvailable: 'Available', Applied: 'ObjectTaken' },
    });
    const other = { type: 'DeliveryAvailable', ...unwritten } as const;
    expect(reported([other], taken('Service', 'main-delivery')).DeliveryAvailable).toBe(
      'NotApplied',
    );
  });
});
