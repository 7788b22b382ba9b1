/**
 * The status of an ImageService after a pass, and whether it differs from what is there: a time moves only with the
 * status of its condition, so that a pass over what is as it should be writes nothing. Spec: Project.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../image-service/conditions.ts';
import type { Decision } from '../image-service/decide.ts';
import { stampConditions } from '../kube/live-condition.ts';
import type { ImageServiceObject, ImageServiceStatus } from './live-types.ts';

export type Told = Partial<Pick<Decision, 'image' | 'components'>> & {
  conditions: readonly (Omit<Condition, 'type' | 'reason'> & { type: string; reason: string })[];
  migrationJob?: string | undefined;
  /** The database that it was let in to; none: another one has it. */
  claim?: Pick<ImageServiceStatus, 'databaseID'> | undefined;
};

/** What a pass did not find out stays as it was said. */
export function statusOf(service: ImageServiceObject, told: Told, now: Date): ImageServiceStatus {
  const { metadata, status = {} } = service;
  const image = told.image ?? status.image;
  const migrationJob = told.migrationJob ?? status.migrationJob;
  const components = told.components ?? status.components;
  const { databaseID } = told.claim ?? status;
  return {
    observedGeneration: metadata.generation ?? 0,
    ...(image === undefined ? {} : { image }),
    ...(migrationJob === undefined ? {} : { migrationJob }),
    ...(databaseID === undefined ? {} : { databaseID }),
    ...(components === undefined ? {} : { components }),
    conditions: stampConditions(service, told.conditions, now),
  };
}

/** Conditions are a map by their type: another order is no difference. */
export function isWritten({ status = {} }: ImageServiceObject, wanted: ImageServiceStatus) {
  return isDeepStrictEqual(sorted(status), sorted(wanted));
}

function sorted({ conditions = [], ...status }: ImageServiceStatus) {
  return { ...status, conditions: conditions.toSorted((a, b) => a.type.localeCompare(b.type)) };
}
