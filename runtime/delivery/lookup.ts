/**
 * Cached lookups of what delivery needs: the project behind a host, its files and its keys. A key that is not known yet
 * forces one reload, so that a fresh key verifies on every server at once. Spec: Delivery host; Signing key.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type AllowedChains, readAllowedChains } from '../core/delivery/chain.ts';
import {
  LOOKUP_CACHE_SECONDS_MAX,
  LOOKUP_STALE_SECONDS_MAX,
  RENDER_DEADLINE_SECONDS,
  UNKNOWN_KID_RELOAD_SECONDS_MIN,
} from '../core/limits.ts';
import { oncePerObject } from '../core/once-per-object.ts';
import type { Queryable } from '../db/client.ts';
import {
  type DeliveryFileRow,
  type DeliveryKeyRow,
  type DeliveryProjectRow,
  type DeliveryWatermarkRow,
  findDeliveryFile,
  findDeliveryProject,
} from '../db/delivery-lookups.ts';
import { type Clock, steady } from '../platform/clock.ts';
import { openSecret } from '../platform/open-secret.ts';
import type { Sealing } from '../platform/sealing.ts';
import { signingKeyContext } from '../platform/sealing-contexts.ts';
import { createLookupCache, noOutage } from './lookup-cache.ts';

/** `asked_at`: when the query began, in milliseconds; later changes are not in its result. */
type Known = { asked_at: number };

/**
 * `keys` by kid, still sealed; `presets` by id; `allowed_chains` parsed once for all requests;
 * `database_lead_ms`: how far the database's clock is ahead of ours.
 */
export type KnownProject = Omit<
  DeliveryProjectRow,
  'keys' | 'watermarks' | 'read_at' | 'allowed_transform_chains'
> &
  Known & {
    keys: ReadonlyMap<string, DeliveryKeyRow>;
    allowed_chains: AllowedChains;
    presets: ReadonlyMap<string, DeliveryWatermarkRow>;
    database_lead_ms: number;
  };

export type KnownFile = DeliveryFileRow & Known;

export type Lookup = {
  /** `host` is in lower case, without a port. */
  findProject(host: string): Promise<KnownProject | undefined>;
  findFile(projectId: string, fileSlug: string): Promise<KnownFile | undefined>;
  /** The secret of a key of the host's project; undefined when that key does not verify now. */
  findSecret(host: string, kid: string): Promise<Uint8Array | undefined>;
};

export type LookupDeps = {
  db: Queryable;
  clock: Clock;
  sealing: Sealing;
  rootDomain: string;
  /** How long lookups count as fresh; default LOOKUP_CACHE_SECONDS_MAX. */
  fresh_seconds?: number;
  /** Waits until a host may be reloaded again. */
  wait?: (ms: number) => Promise<unknown>;
};

export function createLookup(given: LookupDeps): Lookup {
  const deps = { ...given, clock: steady(given.clock) };
  const { clock, db, sealing, fresh_seconds, wait = sleep } = deps;
  const cache = { clock, fresh_seconds, outage: noOutage() };
  const projects = createLookupCache({ ...cache, load: (host) => loadProject(deps, host) });
  const files = createLookupCache({ ...cache, load: (key) => loadFile({ clock, db }, key) });
  const reload = atMostEverySecond({ clock, wait }, projects.reload);
  const openSecret = openingOnce(sealing);
  return {
    findProject: projects.find,
    findFile: (projectId, fileSlug) => files.find(`${projectId} ${fileSlug}`),
    findSecret: async (host, kid) => {
      const hasKey = (of: KnownProject | undefined) => of?.keys.has(kid) === true;
      const known = await projects.find(host);
      const project = hasKey(known) ? known : await reload(host, hasKey);
      const key = project?.keys.get(kid);
      if (project === undefined || key === undefined) return undefined;
      if (isRetired(key, databaseTime(clock, project))) return undefined;
      return openSecret(key);
    },
  };
}

/**
 * The database's time in milliseconds. Keys and signed URLs expire by it, whatever our own clock
 * says.
 */
export function databaseTime(
  clock: Clock,
  { database_lead_ms }: Pick<KnownProject, 'database_lead_ms'>,
): number {
  return steady(clock).now().getTime() + database_lead_ms;
}

/**
 * Time for an answer to reach the cache, and for a change's transaction to go from its purges to
 * its commit.
 */
const ON_THE_WAY_SECONDS = 5;
/**
 * The maximum age of lookups when an answer begins, so that the second purge of any later change
 * follows it.
 */
const PURGED_SECONDS = LOOKUP_CACHE_SECONDS_MAX + RENDER_DEADLINE_SECONDS - ON_THE_WAY_SECONDS;

/**
 * For how many seconds an answer that begins now may be kept. Undefined (no limit) when a purge
 * follows every change that its lookups missed. When the database or the storage delayed the
 * answer, the purges may be over by now, so the limit is the longest time that lookups are ever
 * served.
 */
export function cacheSecondsMax(clock: Clock, ...lookups: readonly Known[]): number | undefined {
  const now = steady(clock).now().getTime();
  const age = (now - Math.min(...lookups.map(({ asked_at }) => asked_at))) / 1000;
  return age <= PURGED_SECONDS ? undefined : Math.max(0, LOOKUP_STALE_SECONDS_MAX - age);
}

const HOSTS_REMEMBERED_MAX = 10_000;
const UNKNOWN_KID_RELOAD_MS_MIN = UNKNOWN_KID_RELOAD_SECONDS_MIN * 1000;

/** `next` begins one second after `at`. */
type Reload<Value> = { at: number; value: Promise<Value>; next?: Promise<Value> };

/**
 * Reloads a host at most once a second. A caller whom the last reload does not help waits for the
 * next one and shares it: an earlier reload lacks keys made since, and without the shared wait
 * anyone who sends unknown keys could delay a new key.
 */
function atMostEverySecond<Value>(
  { clock, wait }: Required<Pick<LookupDeps, 'clock' | 'wait'>>,
  load: (host: string) => Promise<Value>,
) {
  const latest = new LRUCache<string, Reload<Value>>({ max: HOSTS_REMEMBERED_MAX });
  const begin = (host: string) => {
    const value = load(host);
    latest.set(host, { at: clock.now().getTime(), value });
    return value;
  };
  const msUntilNext = ({ at }: Reload<Value>) =>
    Math.min(UNKNOWN_KID_RELOAD_MS_MIN, at + UNKNOWN_KID_RELOAD_MS_MIN - clock.now().getTime());
  return async (host: string, helps: (value: Value) => boolean): Promise<Value> => {
    const last = latest.get(host);
    if (last === undefined || (!last.next && msUntilNext(last) <= 0)) return begin(host);
    const value = await last.value;
    if (helps(value)) return value;
    const newest = latest.get(host);
    if (newest !== undefined && newest !== last) return newest.value;
    last.next ??= wait(Math.max(0, msUntilNext(last))).then(() => begin(host));
    return last.next;
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
  const { keys, watermarks, read_at, allowed_transform_chains: _, ...project } = row;
  return {
    ...project,
    asked_at,
    database_lead_ms: leadOf(read_at.getTime(), { asked_at, told_at: clock.now().getTime() }),
    keys: new Map(keys.map((key) => [key.kid, key])),
    allowed_chains: readAllowedChains(row),
    presets: new Map(watermarks.map((preset) => [preset.watermark_preset_id, preset])),
  };
}

/**
 * How far the clock that gave `readAt` is certainly ahead of ours. The time was read between
 * `asked_at` and `told_at`, so a slow answer extends no lifetime while the two clocks agree.
 */
function leadOf(readAt: number, { asked_at, told_at }: Known & { told_at: number }): number {
  if (readAt > told_at) return readAt - told_at;
  return Math.min(0, readAt - asked_at);
}

/**
 * Opens each secret once per cached lookup: opening takes nearly as long as checking a signature.
 */
function openingOnce(sealing: Sealing): (key: DeliveryKeyRow) => Uint8Array {
  return oncePerObject(({ kid, secret_sealed }) =>
    openSecret(sealing, Buffer.from(secret_sealed, 'hex'), signingKeyContext(kid)),
  );
}

/** Compares with the database's clock, which also set the time of retirement. */
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
