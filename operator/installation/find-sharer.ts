/**
 * Whether another ImageService already uses the operator's database: two would both migrate it, run its jobs and
 * deliver its projects. The one that was let in keeps it, as its status records, so no other can take it over by
 * appearing or by being pointed at it, however old it is. If none was let in yet, the oldest is next.
 */
import { directiveOf } from '../cluster/directives.ts';
import type { KubeClient } from '../kube/client.ts';
import { findCondition } from '../kube/live-condition.ts';
import { byAge, keyOf } from '../kube/resource.ts';
import { ignoreForbidden, listObjects } from './list-objects.ts';
import { type ImageServiceObject, imageServices } from './live-types.ts';

type Search = {
  client: KubeClient;
  namespaces: readonly string[];
  /** Identifies the database that it asks for. */
  database_id: string | undefined;
};

/** Returns its namespace and name. */
export async function findSharer(
  service: ImageServiceObject,
  { client, namespaces, database_id }: Search,
): Promise<string | undefined> {
  const found = await Promise.all(
    namespaces.map(async (namespace) => {
      // A namespace may be deleted, and with it the right to read there: the ImageService that was
      // let in continues.
      const maySkip = namespace !== service.metadata.namespace && isLetIn(service, database_id);
      return listObjects(client, imageServices, { namespace }).catch(
        maySkip ? ignoreForbidden : undefined,
      );
    }),
  );
  const others = found
    .flatMap((items) => items ?? [])
    .filter(({ metadata }) => metadata.uid !== service.metadata.uid)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const [first] = whoIsBefore(service, { others, database_id }).toSorted(byAge);
  return first && keyOf(first.metadata);
}

function isLetIn({ status }: ImageServiceObject, database_id: string | undefined): boolean {
  return status?.databaseID !== undefined && status.databaseID === database_id;
}

type Candidates = { others: readonly ImageServiceObject[]; database_id: string | undefined };

function whoIsBefore(
  service: ImageServiceObject,
  { others, database_id }: Candidates,
): readonly ImageServiceObject[] {
  const areLetIn = (all: readonly ImageServiceObject[]) =>
    all.filter((each) => isLetIn(each, database_id));
  const older = others.filter((each) => byAge(each, service) < 0);
  if (isLetIn(service, database_id)) return areLetIn(older);
  const letIn = areLetIn(others);
  return letIn.length > 0 ? letIn : older.filter(isWaiting);
}

/** Reasons that show that an ImageService names no database, or another one. */
const ELSEWHERE: readonly unknown[] = [
  ...['DatabaseMismatch', 'SpecInvalid'],
  ...['SecretNotFound', 'SecretKeyMissing', 'SecretInvalid'],
];

/** An ImageService that cannot begin blocks nobody. */
function isWaiting(service: ImageServiceObject): boolean {
  const { status } = service;
  const isPaused = findCondition(status, 'Paused')?.status === 'True';
  if (isPaused || directiveOf(service) !== undefined) return false;
  return !ELSEWHERE.includes(findCondition(status, 'Ready')?.reason);
}
