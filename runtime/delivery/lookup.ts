/**
 * The project behind a host, a file of it and its keys, as delivery needs them: remembered. A key that is
 * not known yet forces one reload, so that a fresh key verifies on every server at once.
 * Spec: Delivery host; Signing key.
 */
import { LRUCache } from 'lru-cache';
import {
  LOOKUP_CACHE_SECONDS_MAX,
  LOOKUP_STALE_SECONDS_MAX,
  UNKNOWN_KID_RELOAD_SECONDS_MIN,
} from '../core/limits.ts';
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

/** `asked_at`: what was known then, in milliseconds; whatever changed later is not in it. */
type Known = { asked_at: number };

/** `keys` by kid, still sealed; `presets` by id; `database_lead_ms`: how far the database's clock is ahead of ours. */
export type KnownProject = Omit<DeliveryProjectRow, 'keys' | 'watermarks' | 'read_at'> &
  Known & {
    keys: ReadonlyMap<string, DeliveryKeyRow>;
    presets: ReadonlyMap<string, DeliveryWatermarkRow>;
    database_lead_ms: number;
  };

export type KnownFile = DeliveryFileRow & Known;

export type Lookup = {
  /** By host name, lower case, without a port. */
  findProject(host: string): Promise<KnownProject | undefined>;
  findFile(projectId: string, fileSlug: string): Promise<KnownFile | undefined>;
  /** The secret of a key of the host's project; undefined where it does not verify now. */
  findSecret(host: string, kid: string): Promise<Uint8Array | undefined>;
};

export type LookupDeps = { db: Queryable; clock: Clock; sealing: Sealing; rootDomain: string };

export function createLookup(deps: LookupDeps): Lookup {
  const { clock, db, sealing } = deps;
  const projects = createLookupCache({ clock, load: (host) => loadProject(deps, host) });
  const files = createLookupCache({ clock, load: (key) => loadFile({ clock, db }, key) });
  const reload = atMostEverySecond(clock, projects.reload);
  return {
    findProject: projects.find,
    findFile: (projectId, fileSlug) => files.find(`${projectId} ${fileSlug}`),
    findSecret: async (host, kid) => {
      const known = await projects.find(host);
      const project = known?.keys.has(kid) ? known : await reload(host);
      const key = project?.keys.get(kid);
      if (project === undefined || key === undefined) return undefined;
      if (isRetired(key, clock.now().getTime() + project.database_lead_ms)) return undefined;
      return sealing.open(Buffer.from(key.secret_sealed, 'hex'), signingKeyContext(kid));
    },
  };
}

/**
 * How long an answer may be kept: as long as anybody likes where its lookups are fresh, because a purge follows every
 * change; where the database is away no longer than the lookups serve, because the purges may be over by now.
 */
export function keptSecondsMax(now: number, ...lookups: readonly Known[]): number | undefined {
  const age = (now - Math.min(...lookups.map(({ asked_at }) => asked_at))) / 1000;
  return age <= LOOKUP_CACHE_SECONDS_MAX ? undefined : Math.max(0, LOOKUP_STALE_SECONDS_MAX - age);
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
  { db, clock, rootDomain }: LookupDeps,
  host: string,
): Promise<KnownProject | undefined> {
  const suffix = `.${rootDomain.toLowerCase()}`;
  const address = host.endsWith(suffix)
    ? { project_slug: host.slice(0, -suffix.length) }
    : { domain: host };
  const asked_at = clock.now().getTime();
  const row = await findDeliveryProject(db, address);
  if (row === undefined) return undefined;
  const { keys, watermarks, read_at, ...project } = row;
  return {
    ...project,
    asked_at,
    database_lead_ms: read_at.getTime() - clock.now().getTime(),
    keys: new Map(keys.map((key) => [key.kid, key])),
    presets: new Map(watermarks.map((preset) => [preset.watermark_preset_id, preset])),
  };
}

/** By the database's clock, which said when its time is over. */
function isRetired({ retire_after }: DeliveryKeyRow, databaseNow: number): boolean {
  return retire_after !== null && new Date(retire_after).getTime() <= databaseNow;
}

async function loadFile(
  { db, clock }: Pick<LookupDeps, 'db' | 'clock'>,
  key: string,
): Promise<KnownFile | undefined> {
  const [project_id = '', file_slug = ''] = key.split(' ');
  const asked_at = clock.now().getTime();
  const row = await findDeliveryFile(db, { project_id, file_slug });
  return row && { ...row, asked_at };
}
