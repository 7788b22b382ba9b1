/**
 * An ImageService's status after a pass, and whether it differs from the existing one: a transition time changes only
 * with its condition's status, so that a pass that finds everything as declared writes nothing. Spec: Project.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Condition, conditionTypes } from '../image-service/conditions.ts';
import type { Decision } from '../image-service/decide.ts';
import { stampConditions } from '../kube/live-condition.ts';
import type { ImageServiceObject, ImageServiceStatus } from './live-types.ts';

export type StatusInput = Partial<Pick<Decision, 'image' | 'components'>> & {
  conditions: readonly (Omit<Condition, 'type' | 'reason'> & { type: string; reason: string })[];
  migrationJob?: string | undefined;
  /**
   * The database that it was let in to; empty: another one has it. Undefined: unknown, so the
   * previous claim stays.
   */
  claim?: Pick<ImageServiceStatus, 'databaseID'> | undefined;
};

/** What a pass did not find out keeps its previous value. */
export function statusOf(
  service: ImageServiceObject,
  input: StatusInput,
  now: Date,
): ImageServiceStatus {
  const { metadata, status = {} } = service;
  const image = input.image ?? status.image;
  const migrationJob = input.migrationJob ?? status.migrationJob;
  const components = input.components ?? status.components;
  const { databaseID } = input.claim ?? status;
  return {
    observedGeneration: metadata.generation ?? 0,
    ...(image === undefined ? {} : { image }),
    ...(migrationJob === undefined ? {} : { migrationJob }),
    ...(databaseID === undefined ? {} : { databaseID }),
    ...(components === undefined ? {} : { components }),
    conditions: stampConditions(service, input.conditions, now),
  };
}

/**
 * The status without a pass: the previous conditions remain, with the generation that they were
 * reported for.
 */
export function pausedStatusOf(service: ImageServiceObject, now: Date): ImageServiceStatus {
  const { status = {} } = service;
  const types: readonly string[] = conditionTypes;
  const kept = (status.conditions ?? []).filter(({ type }) => types.includes(type));
  const message = 'the annotation `tintype.dev/paused` keeps the resource unchanged';
  const of = { reason: 'Paused', message };
  const ready = { type: 'Ready', status: 'Unknown', ...of } as const;
  const paused = { type: 'Paused', status: 'True', ...of } as const;
  const said = stampConditions(service, kept.length === 0 ? [ready, paused] : [paused], now);
  return { ...status, conditions: [...kept, ...said] };
}

/** Conditions are a map by type: their order makes no difference. */
export function hasStatus({ status = {} }: ImageServiceObject, wanted: ImageServiceStatus) {
  return isDeepStrictEqual(sorted(status), sorted(wanted));
}

function sorted({ conditions = [], ...status }: ImageServiceStatus) {
  return { ...status, conditions: conditions.toSorted((a, b) => a.type.localeCompare(b.type)) };
}
