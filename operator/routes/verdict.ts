/** The condition Routed: every reason that it can have, and what each means. Spec: Project (status). */
import type { Condition } from '../conditions.ts';
import { describeMutations } from '../installation/mutated-object.ts';

/** Every reason with its status. */
export const routedReasons = {
  Routed: { status: 'True', meaning: 'Every host of the project is routed to delivery.' },
  Answering: { status: 'True', meaning: 'Delivery responded at every host of the project.' },
  NotAnswering: {
    status: 'False',
    meaning: 'A host of the project was probed, and delivery did not respond.',
  },
  NotAdmitted: {
    status: 'False',
    meaning: 'A route is written, but no ingress controller or Gateway serves it yet.',
  },
  RouteRefused: { status: 'False', meaning: 'The Gateway or the API server refused the route.' },
  RouteTaken: {
    status: 'False',
    meaning: 'Somebody else owns an object with the name of the route.',
  },
  RouteUndone: {
    status: 'False',
    meaning: 'Somebody reverts the route after each write; it is written less and less often.',
  },
  HostTaken: {
    status: 'False',
    meaning:
      'A host of the project is also the host of the API or of uploads, and is routed there.',
  },
  GatewayAPIMissing: { status: 'False', meaning: 'The cluster has no HTTPRoutes.' },
  NoImageService: {
    status: 'False',
    meaning: 'There is no ImageService to route the hosts to.',
  },
  ImageServiceInvalid: {
    status: 'Unknown',
    meaning: 'The ImageService cannot be read; routes stay unchanged.',
  },
  ReadRefused: {
    status: 'Unknown',
    meaning: 'The operator cannot list the existing routes; they stay unchanged.',
  },
  NotAccepted: {
    status: 'False',
    meaning: 'The project, or one of its domains, was not accepted.',
  },
  RoutedByOthers: {
    status: 'Unknown',
    meaning: 'The ImageService declares that the routes are managed elsewhere.',
  },
} as const satisfies Record<string, { status: Condition['status']; meaning: string }>;

export type RoutedReason = keyof typeof routedReasons;

export type Verdict = { reason: RoutedReason; message: string };

/** `mutated`: routes that the cluster changed on admission. */
export function conditionOf(
  { reason, message }: Verdict,
  mutated: Parameters<typeof describeMutations>[0],
): Condition & Verdict {
  const { status } = routedReasons[reason];
  return { type: 'Routed', status, reason, message: `${message}${describeMutations(mutated)}` };
}
