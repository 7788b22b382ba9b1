/** Resources as the API server stores them: one for each reason that a condition can have, and some in other states. */
import { conditionsFor, type Outcome, type Reason, reasons } from '../../operator/conditions.ts';
import * as installation from '../../operator/image-service/conditions.ts';

type RecordedCondition = {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration: number;
  lastTransitionTime: string;
};

export type Recorded = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; generation: number; deletionTimestamp?: string };
  status?: { observedGeneration?: number; conditions?: RecordedCondition[] };
};

type Moment = 'Ready' | 'Waiting' | 'Refused' | 'Suspended' | 'Paused' | 'Held' | 'Deleting';

export type Case = { name: string; resource: Recorded; moment: Moment };

const GENERATION = 3;

function resource(kind: string, status: Recorded['status']): Recorded {
  return {
    apiVersion: 'tintype.dev/v1alpha1',
    kind,
    metadata: { name: 'shop', namespace: 'team', generation: GENERATION },
    ...(status === undefined ? {} : { status }),
  };
}

// Contains characters that need escaping in the languages of the health checks.
const MESSAGE = 'A "quoted" word, \\ and ünïcode.';

type Said = { type: string; status: string; reason: string; message: string };

function observed(conditions: readonly Said[]): NonNullable<Recorded['status']> {
  return {
    observedGeneration: GENERATION,
    conditions: conditions.map((each) => ({
      ...each,
      observedGeneration: GENERATION,
      lastTransitionTime: '2026-11-21T10:00:00Z',
    })),
  };
}

function statusOf(reason: Reason): NonNullable<Recorded['status']> {
  return observed(conditionsFor(reason, `${reasons[reason].meaning} ${MESSAGE}`));
}

const moments: Record<Outcome, Moment> = {
  done: 'Ready',
  waiting: 'Waiting',
  held: 'Refused',
  refused: 'Refused',
};

/** Returns a case for every reason, and for the states that have no reason. */
export function casesOf(kind: string): Case[] {
  const reasonCases = kind === 'ImageService' ? installationCases() : tenantCases();
  return [
    ...reasonCases.map(({ name, status, moment }) => {
      return { name, resource: resource(kind, status), moment };
    }),
    ...otherMoments(kind),
  ];
}

type ReasonCase = { name: string; status: Recorded['status']; moment: Moment };

function tenantCases(): ReasonCase[] {
  return (Object.keys(reasons) as Reason[]).map((reason) => ({
    name: reason,
    status: statusOf(reason),
    moment: reason === 'SuspendedByStaff' ? 'Suspended' : moments[reasons[reason].outcome],
  }));
}

const installationMoments: Record<installation.Outcome, Moment> = {
  good: 'Ready',
  moving: 'Waiting',
  stalled: 'Refused',
};

function installationCases(): ReasonCase[] {
  const names = Object.keys(installation.reasons) as installation.Reason[];
  return names
    .filter((reason) => reason !== 'Paused')
    .map((reason) => ({
      name: reason,
      status: observed(installation.conditionsOf(findings(reason))),
      moment: installationMoments[installation.reasons[reason].outcome],
    }));
}

/** A part is blocked only if another one before it has failed. */
function findings(reason: installation.Reason): installation.Finding[] {
  const before: installation.Finding[] = [
    { type: 'MigrationComplete', reason: 'MigrationFailed', message: MESSAGE },
  ];
  return [
    ...(reason === 'Blocked' ? before : []),
    { type: 'ApiAvailable', reason, message: MESSAGE },
  ];
}

const paused = { type: 'Paused', status: 'True', reason: 'Paused', message: MESSAGE };

function otherMoments(kind: string): Case[] {
  const ready = statusOf('InSync');
  return [
    {
      name: 'nobody has looked at it yet',
      resource: resource(kind, { observedGeneration: -1 }),
      moment: 'Waiting',
    },
    {
      name: 'it was ready when it was paused',
      resource: resource(kind, observed([...conditionsFor('InSync', MESSAGE), paused])),
      moment: 'Paused',
    },
    {
      name: 'its spec changed while it was paused',
      resource: resource(kind, {
        ...observed([...conditionsFor('InSync', MESSAGE), paused]),
        observedGeneration: GENERATION - 1,
      }),
      moment: 'Held',
    },
    {
      name: 'it was paused before anybody looked at it',
      resource: resource(kind, {
        ...observed([{ ...paused, type: 'Ready', status: 'Unknown' }, paused]),
        observedGeneration: -1,
      }),
      moment: 'Held',
    },
    {
      name: 'it was ready before its spec changed',
      resource: resource(kind, { ...ready, observedGeneration: GENERATION - 1 }),
      moment: 'Waiting',
    },
    {
      name: 'it was refused before its spec changed',
      resource: resource(kind, { ...statusOf('SlugInvalid'), observedGeneration: GENERATION - 1 }),
      moment: 'Waiting',
    },
    {
      name: 'it is being deleted',
      resource: {
        ...resource(kind, ready),
        metadata: { ...resource(kind, ready).metadata, deletionTimestamp: '2026-11-21T10:00:00Z' },
      },
      moment: 'Deleting',
    },
  ];
}
