/**
 * The project behind a host, a file of it and its keys, as delivery needs them: remembered. A key that is
 * not known yet forces one reload, so that a fresh key verifies on every server at once.
 * Spec: Delivery host; Signing key.
 */
import { LRUCache } from 'lru-cache';
import { UNKNOWN_KID_RELOAD_SECONDS_MIN } from '../core/limits.ts';
import type { Queryable } from '../db/client.ts';
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
import { createLookupCache } from './lookup-cache.ts';

/** `keys` by kid, still sealed; `presets` by id. */
export type KnownProject = Omit<DeliveryProjectRow, 'keys' | 'watermarks'> & {
  keys: ReadonlyMap<string, DeliveryKeyRow>;
  presets: ReadonlyMap<string, DeliveryWatermarkRow>;
};

export type Lookup = {
  /** By host name, lower case, without a port. */
  findProject(host: string): Promise<KnownProject | undefined>;
  findFile(projectId: string, fileSlug: string): Promise<DeliveryFileRow | undefined>;
  /** The secret of a key of the host's project; undefined where it does not verify now. */
  findSecret(host: string, kid: string): Promise<Uint8Array | undefined>;
};

export type LookupDeps = { db: Queryable; clock: Clock; sealing: Sealing; rootDomain: string };

export function createLookup(deps: LookupDeps): Lookup {
  const { clock, db, sealing } = deps;
  const projects = createLookupCache({ clock, load: (host) => loadProject(deps, host) });
  const files = createLookupCache({ clock, load: (key) => loadFile(db, key) });
  const reload = atMostEverySecond(clock, projects.reload);
  return {
    findProject: projects.find,
    findFile: (projectId, fileSlug) => files.find(`${projectId} ${fileSlug}`),
    findSecret: async (host, kid) => {
      const known = (await projects.find(host))?.keys.get(kid);
      const key = known ?? (await reload(host))?.keys.get(kid);
      if (key === undefined || isRetired(key, clock.now())) return undefined;
      return sealing.open(Buffer.from(key.secret_sealed, 'hex'), signingKeyContext(kid));
    },
  };
}

const HOSTS_REMEMBERED_MAX = 10_000;

/** One reload of a host a second; whoever asks in between shares it. */
function atMostEverySecond<Value>(
  clock: Clock,
  reload: (host: string) => Promise<Value>,
): (host: string) => Promise<Value> {
  const latest = new LRUCache<string, { at: number; value: Promise<Value> }>({
    max: HOSTS_REMEMBERED_MAX,
  });
  return (host) => {
    const now = clock.now().getTime();
    const last = latest.get(host);
    if (last && now - last.at < UNKNOWN_KID_RELOAD_SECONDS_MIN * 1000) return last.value;
    const value = reload(host);
    latest.set(host, { at: now, value });
    return value;
  };
}

async function loadProject(
  { db, rootDomain }: LookupDeps,
  host: string,
): Promise<KnownProject | undefined> {
  const suffix = `.${rootDomain.toLowerCase()}`;
  const address = host.endsWith(suffix)
    ? { project_slug: host.slice(0, -suffix.length) }
    : { domain: host };
  const row = await findDeliveryProject(db, address);
  if (row === undefined) return undefined;
  const { keys, watermarks, ...project } = row;
  return {
    ...project,
    keys: new Map(keys.map((key) => [key.kid, key])),
    presets: new Map(watermarks.map((preset) => [preset.watermark_preset_id, preset])),
  };
}

function isRetired({ retire_after }: DeliveryKeyRow, now: Date): boolean {
  return retire_after !== null && new Date(retire_after) <= now;
}

function loadFile(db: Queryable, key: string): Promise<DeliveryFileRow | undefined> {
  const [project_id = '', file_slug = ''] = key.split(' ');
  return findDeliveryFile(db, { project_id, file_slug });
}
