/**
 * The project behind a host and a file of it, as delivery needs them: remembered, keys opened.
 * A key that is not known yet forces one reload, so that a fresh key verifies on every pod at once.
 * Spec: Delivery host; Signing key.
 */
import { UNKNOWN_KID_RELOAD_SECONDS_MIN } from '../core/limits.ts';
import type { Database } from '../db/client.ts';
import {
  type DeliveryFileRow,
  type DeliveryKeyRow,
  type DeliveryProjectRow,
  type DeliveryWatermarkRow,
  findDeliveryFile,
  findDeliveryProject,
} from '../db/delivery-lookups.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sealing } from '../platform/sealing.ts';
import { signingKeyContext } from '../platform/sealing-contexts.ts';
import { createLookupCache, type LookupCache } from './lookup-cache.ts';

export type DeliveryKey = { secret: Uint8Array; retire_after: Date | null };

export type KnownProject = Omit<DeliveryProjectRow, 'keys' | 'watermarks'> & {
  keys: ReadonlyMap<string, DeliveryKey>;
  presets: ReadonlyMap<string, DeliveryWatermarkRow>;
};

export type Lookup = {
  /** By host name, lower case, without a port. */
  findProject(host: string): Promise<KnownProject | undefined>;
  findFile(projectId: string, fileSlug: string): Promise<DeliveryFileRow | undefined>;
  /** The key of a project's host, asked for anew when it is not known; undefined when it does not verify now. */
  findKey(host: string, kid: string): Promise<DeliveryKey | undefined>;
};

export function createLookup(deps: {
  db: Database;
  clock: Clock;
  sealing: Sealing;
  rootDomain: string;
}): Lookup {
  const { clock, db } = deps;
  const projects = createLookupCache({ clock, load: (host) => loadProject(deps, host) });
  const files = createLookupCache({ clock, load: (key) => loadFile(db, key) });
  const reload = atMostEvery(UNKNOWN_KID_RELOAD_SECONDS_MIN * 1000, { clock, projects });
  return {
    findProject: (host) => projects.find(host),
    findFile: (projectId, fileSlug) => files.find(`${projectId} ${fileSlug}`),
    findKey: async (host, kid) => {
      const known = (await projects.find(host))?.keys.get(kid);
      const key = known ?? (await reload(host))?.keys.get(kid);
      const isRetired = key?.retire_after != null && key.retire_after <= clock.now();
      return isRetired ? undefined : key;
    },
  };
}

/** Reloads one host at most every so often; in between, what is remembered has to do. */
function atMostEvery(
  milliseconds: number,
  { clock, projects }: { clock: Clock; projects: LookupCache<KnownProject> },
): (host: string) => Promise<KnownProject | undefined> {
  const reloadedAt = new Map<string, number>();
  return (host) => {
    const now = clock.now().getTime();
    if (now - (reloadedAt.get(host) ?? 0) < milliseconds) return projects.find(host);
    if (reloadedAt.size > HOSTS_REMEMBERED_MAX) reloadedAt.clear();
    reloadedAt.set(host, now);
    return projects.reload(host);
  };
}

const HOSTS_REMEMBERED_MAX = 10_000;

async function loadProject(
  { db, rootDomain, sealing }: { db: Database; rootDomain: string; sealing: Sealing },
  host: string,
): Promise<KnownProject | undefined> {
  const slug = host.endsWith(`.${rootDomain}`) ? host.slice(0, -rootDomain.length - 1) : undefined;
  const row = await findDeliveryProject(
    db,
    slug === undefined ? { domain: host } : { project_slug: slug },
  );
  if (row === undefined) return undefined;
  const { keys, watermarks, ...project } = row;
  return {
    ...project,
    keys: new Map(keys.map((key) => [key.kid, openKey(sealing, key)])),
    presets: new Map(watermarks.map((preset) => [preset.watermark_preset_id, preset])),
  };
}

function openKey(
  sealing: Sealing,
  { kid, secret_sealed, retire_after }: DeliveryKeyRow,
): DeliveryKey {
  const secret = sealing.open(Buffer.from(secret_sealed, 'hex'), signingKeyContext(kid));
  return { secret, retire_after: retire_after === null ? null : new Date(retire_after) };
}

function loadFile(db: Database, key: string): Promise<DeliveryFileRow | undefined> {
  const [project_id = '', file_slug = ''] = key.split(' ');
  return findDeliveryFile(db, { project_id, file_slug });
}
