/** What pods report: why they do not start, and what they ended with. */
import { z } from 'zod';
import { cutText } from '../../runtime/core/cut-text.ts';

export const conditions = z
  .array(
    z.object({
      type: z.string(),
      status: z.string(),
      reason: z.string().optional(),
      message: z.string().optional(),
      lastTransitionTime: z.string().optional(),
    }),
  )
  .default([]);

const terminated = z.object({ message: z.string().optional(), reason: z.string().optional() });
const podShape = z.object({
  metadata: z.object({ name: z.string().default('') }).prefault({}),
  status: z
    .object({
      conditions,
      containerStatuses: z
        .array(
          z.object({
            state: z
              .object({
                waiting: z
                  .object({ reason: z.string().default(''), message: z.string().optional() })
                  .optional(),
                terminated: terminated.optional(),
              })
              .prefault({}),
            lastState: z.object({ terminated: terminated.optional() }).prefault({}),
          }),
        )
        .default([]),
    })
    .prefault({}),
});

type Pod = z.infer<typeof podShape>;

/** Waiting reasons that every container passes through before it starts. */
const USUAL = ['', 'ContainerCreating', 'PodInitializing'];

/** Why one of the pods does not start, as Kubernetes reports it. */
export function failureOf(pods: readonly unknown[]): string | undefined {
  return firstOf(pods, failure);
}

/** Why no node takes one of the pods. */
export function findUnschedulable(pods: readonly unknown[]): string | undefined {
  return firstOf(pods, unschedulable);
}

function firstOf(
  pods: readonly unknown[],
  find: (pod: Pod) => string | undefined,
): string | undefined {
  return pods.map((pod) => find(podShape.parse(pod))).find((reason) => reason !== undefined);
}

function unschedulable({ status }: Pod): string | undefined {
  const condition = status.conditions.find(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable',
  );
  return condition && (condition.message ?? 'Unschedulable');
}

function failure({ status }: Pod): string | undefined {
  for (const { state, lastState } of status.containerStatuses) {
    const { reason = '', message } = state.waiting ?? {};
    if (USUAL.includes(reason)) continue;
    const ended = lastState.terminated;
    const line = lineOf(ended?.message) ?? message;
    const why = ended?.reason === 'OOMKilled' ? `${reason}, OOMKilled` : reason;
    return line === undefined ? why : `${why}: ${line}`;
  }
  return undefined;
}

/** A container's last message; without one, why none starts. */
export function lastLine(pods: readonly unknown[]): string | undefined {
  const lines = pods.flatMap((pod) =>
    podShape
      .parse(pod)
      .status.containerStatuses.map(({ state, lastState }) =>
        lineOf((state.terminated ?? lastState.terminated)?.message),
      ),
  );
  return lines.findLast((line) => line !== undefined) ?? failureOf(pods);
}

const LINE_LENGTH_MAX = 500;

/** The last non-empty line of a container's termination message. */
function lineOf(message: string | undefined): string | undefined {
  const line = message?.split('\n').findLast((each) => each.trim() !== '');
  return line && cutText(line.trim(), LINE_LENGTH_MAX);
}
