/**
 * The Secret that a Project names for its callback. The operator never writes a Secret that it did not make: otherwise
 * whoever may write a Project could overwrite any Secret of the namespace. It never lists Secrets, so it records each
 * in the Project before making it. A Secret that the Project no longer names is deleted once the new one exists.
 */
import { OBJECT_NAME_PATTERN } from '../fields.ts';
import { API_VERSION } from '../kinds.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Secret, secrets } from '../kube/core-types.ts';
import { unwrap } from '../kube/kube-failure.ts';
import { type TenantObject, typeOf } from './tenant-object.ts';

const KEY = 'secret';
const LABELS = { 'app.kubernetes.io/managed-by': 'tintype' };

/** The annotation of a Project that names the Secrets made for it. */
const MADE = 'tintype.dev/callback-secrets';

type Wanted = { name: string; value: string };

/**
 * `owner` is the Project after the write. `taken`: a Secret of this name exists that the Project
 * does not own; `holder` is the Project that it was made for, if any.
 */
export type Written =
  | { owner: TenantObject; outcome: 'written' }
  | { owner: TenantObject; outcome: 'taken'; holder: Holder | undefined };

/** The Project that a Secret was made for. */
export type Holder = { name: string; uid: string };

export async function writeCallbackSecret(
  client: KubeClient,
  owner: TenantObject,
  wanted: Wanted,
): Promise<Written> {
  const { name } = wanted;
  const found = await find(client, placeOf(owner, name));
  if (found !== undefined && !isOwned(found, owner)) {
    return { owner, outcome: 'taken', holder: holderOf(found) };
  }
  const made = secretNamesOf(owner);
  const recorded = await recordSecretNames(client, owner, [...new Set([...made, name])]);
  await write(client, recorded, { ...wanted, found });
  for (const other of made) if (other !== name) await removeMade(client, recorded, other);
  return { owner: await recordSecretNames(client, recorded, [name]), outcome: 'written' };
}

export type PlannedWrite =
  | { outcome: 'insert' | 'update' | 'same' }
  | { outcome: 'taken'; holder: Holder | undefined };

/**
 * What writing the Secret would do; `new`: its value does not exist yet, as the write generates it.
 */
export async function judgeCallbackSecret(
  client: KubeClient,
  owner: TenantObject,
  { name, secret }: { name: string; secret: 'new' | { value: string } },
): Promise<PlannedWrite> {
  const found = await find(client, placeOf(owner, name));
  if (found === undefined) return { outcome: 'insert' };
  if (!isOwned(found, owner)) return { outcome: 'taken', holder: holderOf(found) };
  const isSame = secret !== 'new' && found.data?.[KEY] === encoded(secret.value);
  return { outcome: isSame ? 'same' : 'update' };
}

/**
 * The names of the Secrets that were made for the Project and still bear the operator's marks;
 * `lost`: names that were once recorded in it.
 */
export async function listMade(
  client: KubeClient,
  owner: TenantObject,
  lost: readonly string[],
): Promise<string[]> {
  const made: string[] = [];
  for (const name of new Set([...secretNamesOf(owner), ...lost])) {
    if ((await findMade(client, owner, name)) !== undefined) made.push(name);
  }
  return made;
}

/** For a Project that needs no Secret any more. */
export async function removeCallbackSecrets(
  client: KubeClient,
  owner: TenantObject,
): Promise<TenantObject> {
  for (const name of secretNamesOf(owner)) await removeMade(client, owner, name);
  return recordSecretNames(client, owner, []);
}

/** Records the names again that were lost when somebody replaced the Project. */
export function restoreSecretNames(
  client: KubeClient,
  owner: TenantObject,
  lost: readonly string[],
): Promise<TenantObject> {
  return recordSecretNames(client, owner, [...new Set([...secretNamesOf(owner), ...lost])]);
}

type Place = { name: string; namespace: string | undefined };

function placeOf({ metadata: { namespace } }: TenantObject, name: string): Place {
  return { name, namespace };
}

async function find(client: KubeClient, place: Place): Promise<Secret | undefined> {
  const found = await client.get(secrets, place);
  if (!found.ok && found.failure.reason !== 'NotFound') throw found.failure;
  return found.ok ? found.value : undefined;
}

async function write(
  client: KubeClient,
  owner: TenantObject,
  { name, value, found }: Wanted & { found: Secret | undefined },
): Promise<void> {
  const data = { [KEY]: encoded(value) };
  if (found === undefined) {
    unwrap(await client.create(secrets, declared(owner, { name, data })));
    return;
  }
  if (found.data?.[KEY] === data[KEY]) return;
  // Only this exact Secret, unchanged since its owner was checked.
  const { resourceVersion } = found.metadata;
  const body = { metadata: { resourceVersion }, data };
  unwrap(await client.merge(secrets, placeOf(owner, name), { body }));
}

function encoded(value: string): string {
  return Buffer.from(value).toString('base64');
}

async function removeMade(client: KubeClient, owner: TenantObject, name: string): Promise<void> {
  const found = await findMade(client, owner, name);
  if (found === undefined) return;
  const { uid, resourceVersion: version } = found.metadata;
  unwrap(await client.delete(secrets, placeOf(owner, name), { uid, version }));
}

/** A Secret that a person created in its place, or took over, is not the operator's. */
async function findMade(
  client: KubeClient,
  owner: TenantObject,
  name: string,
): Promise<Secret | undefined> {
  const found = await find(client, placeOf(owner, name));
  return found !== undefined && isOwned(found, owner) && isMade(found) ? found : undefined;
}

function isOwned({ metadata }: Secret, owner: TenantObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
}

function holderOf(found: Secret): Holder | undefined {
  const { ownerReferences = [] } = found.metadata;
  const holder = ownerReferences.find(({ kind }) => kind === 'Project');
  return isMade(found) ? holder : undefined;
}

function isMade({ metadata: { labels = {} } }: Secret): boolean {
  return Object.entries(LABELS).every(([label, value]) => labels[label] === value);
}

export function hasSecretNames({ metadata: { annotations = {} } }: TenantObject): boolean {
  return annotations[MADE] !== undefined;
}

export function secretNamesOf({ metadata: { annotations = {} } }: TenantObject): string[] {
  return (annotations[MADE] ?? '').split(',').filter((name) => OBJECT_NAME_PATTERN.test(name));
}

async function recordSecretNames(
  client: KubeClient,
  owner: TenantObject,
  names: readonly string[],
): Promise<TenantObject> {
  if (secretNamesOf(owner).join() === names.join()) return owner;
  const { resourceVersion } = owner.metadata;
  const body = { metadata: { resourceVersion, annotations: { [MADE]: names.join() } } };
  return unwrap(await client.merge(typeOf('Project'), owner.metadata, { body }));
}

function declared(
  { metadata }: TenantObject,
  { name, data }: { name: string; data: Record<string, string> },
) {
  const { namespace = '', uid } = metadata;
  const reference = { apiVersion: API_VERSION, kind: 'Project', name: metadata.name, uid };
  return {
    metadata: {
      ...{ name, namespace, labels: LABELS },
      ownerReferences: [{ ...reference, controller: true }],
    },
    type: 'Opaque',
    data,
  };
}
