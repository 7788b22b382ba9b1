/**
 * The project behind a host, a file of it and its keys, as delivery needs them: remembered. A key that is
 * not known yet forces one reload, so that a fresh key verifies on every server at once.
 * Spec: Delivery host; Signing key.
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
import type { Sealing } from '../platform/sealing.ts';
import { signingKeyContext } from '../platform/sealing-contexts.ts';
import { createLookupCache } from './lookup-cache.ts';

/** `asked_at`: what was known then, in milliseconds; whatever changed later is not in it. */
type Known = { asked_at: number };

/**
 * `keys` by kid, still sealed; `presets` by id; `allowed_chains` read once for all requests; `database_lead_ms`: how far
 * the database's clock is ahead of ours.
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
  /** By host name, lower case, without a port. */
  findProject(host: string): Promise<KnownProject | undefined>;
  findFile(projectId: string, fileSlug: string): Promise<KnownFile | undefined>;
  /** The secret of a key of the host's project; undefined where it does not verify now. */
  findSecret(host: string, kid: string): Promise<Uint8Array | undefined>;
};

export type LookupDeps = {
  db: Queryable;
  clock: Clock;
  sealing: Sealing;
  rootDomain: string;
  /** How long what was looked up counts as fresh; default LOOKUP_CACHE_SECONDS_MAX. */
  fresh_seconds?: number;
  /** Until a host may be asked about again. */
  wait?: (ms: number) => Promise<unknown>;
};

export function createLookup(given: LookupDeps): Lookup {
  const deps = { ...given, clock: steady(given.clock) };
  const { clock, db, sealing, fresh_seconds, wait = sleep } = deps;
  const cache = { clock, fresh_seconds };
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

/** The time of the database in milliseconds, by which keys and signed URLs end, whatever our own clock says. */
export function databaseTime(
  clock: Clock,
  { database_lead_ms }: Pick<KnownProject, 'database_lead_ms'>,
): number {
  return steady(clock).now().getTime() + database_lead_ms;
}

/** What an answer may take to the cache, and the transaction of a change from its purges to its end. */
const ON_THE_WAY_SECONDS = 5;
/** Of lookups, when an answer begins: the second purge of whatever was changed since comes after it. */
const PURGED_SECONDS = LOOKUP_CACHE_SECONDS_MAX + RENDER_DEADLINE_SECONDS - ON_THE_WAY_SECONDS;

/**
 * How long an answer that begins now may be kept: as long as anybody likes where a purge follows every change that its
 * lookups missed; where the database or the storage kept it waiting no longer than lookups ever serve, because the
 * purges may be over by now.
 */
export function keptSecondsMax(clock: Clock, ...lookups: readonly Known[]): number | undefined {
  const now = steady(clock).now().getTime();
  const age = (now - Math.min(...lookups.map(({ asked_at }) => asked_at))) / 1000;
  return age <= PURGED_SECONDS ? undefined : Math.max(0, LOOKUP_STALE_SECONDS_MAX - age);
}

const HOSTS_REMEMBERED_MAX = 10_000;
const UNKNOWN_KID_RELOAD_MS_MIN = UNKNOWN_KID_RELOAD_SECONDS_MIN * 1000;

/** `next` begins when a second has passed since `at`. */
type Reload<Value> = { at: number; value: Promise<Value>; next?: Promise<Value> };

/**
 * One reload of a host a second. Whom the last one does not help waits for the next and shares it: what was read before
 * has not the key that was made since, and else whoever sends unknown ones could hold that key back.
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
 * How far the clock that read a time in between is certainly ahead of ours: a slow answer makes nothing live longer where
 * the two agree.
 */
function leadOf(readAt: number, { asked_at, told_at }: Known & { told_at: number }): number {
  if (readAt > told_at) return readAt - told_at;
  return Math.min(0, readAt - asked_at);
}

/** A secret is known as long as the look-up that it came with; opening it takes nearly as long as checking a signature. */
function openingOnce(sealing: Sealing): (key: DeliveryKeyRow) => Uint8Array {
  return oncePerObject(({ kid, secret_sealed }) =>
    sealing.open(Buffer.from(secret_sealed, 'hex'), signingKeyContext(kid)),
  );
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
