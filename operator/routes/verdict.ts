/** What the condition Routed says: every reason that it can have, and what each means. Spec: Project (status). */
import type { Condition } from '../conditions.ts';

/** Every reason with its status. */
export const routedReasons = {
  Routed: { status: 'True', meaning: 'Every host of the project leads to delivery.' },
  Answering: { status: 'True', meaning: 'Delivery answered at every host of the project.' },
  NotAnswering: {
    status: 'False',
    meaning: 'A host of the project was asked, and no delivery answered.',
  },
  NotAdmitted: {
    status: 'False',
    meaning: 'A route is written, and no ingress controller or Gateway serves it yet.',
  },
  RouteRefused: { status: 'False', meaning: 'The Gateway or the API server refused the route.' },
  RouteTaken: { status: 'False', meaning: 'Somebody else has an object of the name of the route.' },
  RouteUndone: {
    status: 'False',
    meaning:
      'Somebody changes the route back each time it is written; it is written ever more seldom.',
  },
  HostTaken: {
    status: 'False',
    meaning: 'A host of the project is the host of the API or of uploads, and leads there.',
  },
  GatewayAPIMissing: { status: 'False', meaning: 'The cluster has no HTTPRoutes.' },
  NoImageService: {
    status: 'False',
    meaning: 'There is no ImageService that hosts could lead to.',
  },
  ImageServiceInvalid: {
    status: 'Unknown',
    meaning: 'The ImageService cannot be read: routes stay as they are.',
  },
  ReadRefused: {
    status: 'Unknown',
    meaning: 'The operator cannot list the routes that there are: they stay as they are.',
  },
  NotAccepted: {
    status: 'False',
    meaning: 'The project, or one of its domains, was not accepted.',
  },
  RoutedByOthers: {
    status: 'Unknown',
    meaning: 'The ImageService says that somebody else makes the routes.',
  },
} as const satisfies Record<string, { status: Condition['status']; meaning: string }>;

export type RoutedReason = keyof typeof routedReasons;

export type Verdict = { reason: RoutedReason; message: string };

export function conditionOf({ reason, message }: Verdict): Condition {
  return { type: 'Routed', status: routedReasons[reason].status, reason, message };
}
