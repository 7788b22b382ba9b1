/**
 * Checks what must always be true of an idle Tintype, and returns violations as sentences. Reads rows with SQL and
 * objects as files, never with the code that wrote them.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../../runtime/db/client.ts';

const TRAILER_BYTES = 512;
/** Prefixes of objects without a file: derived images, and the image of status samples. */
const OF_NO_FILE = /^(?:derived|probes)\//;

export async function brokenPromises(db: Database, data: string): Promise<string[]> {
  const look = (bucket: string) => readFolderObjects(join(data, 'storage', bucket));
  return [...(await brokenRows(db)), ...(await brokenObjects(db, look))];
}

/** Returns the violations that rows alone show. */
export async function brokenRows(db: Database): Promise<string[]> {
  return [...(await brokenUploads(db)), ...(await brokenCounters(db)), ...(await brokenMoney(db))];
}

/** Each upload must have ended. Each ready upload must be exactly one revision and one event. */
async function brokenUploads(db: Database): Promise<string[]> {
  const rows = await db.query<{ upload_id: string; status: string; why: string }>(
    `select upload_id, status, attempt, revisions || ' revisions, ' || events || ' events' as why from (
       select u.upload_id, u.status, u.attempt,
         (select count(*) from file_revisions r where r.upload_id = u.upload_id
           and (r.file_id, r.revision) is not distinct from (u.file_id, u.revision)) as revisions,
         (select count(*) from webhook_deliveries w
           where w.event = 'upload.ready' and w.delivery_id like 'upload.ready:' || u.upload_id || '%') as events
       from uploads u) counted
     where status not in ('ready', 'failed', 'expired')
       or revisions <> case when status = 'ready' then 1 else 0 end
       or events <> case when status = 'ready' then 1 else 0 end`,
  );
  return rows.map((row) => `${row.upload_id} is ${row.status} with ${row.why}`);
}

async function brokenCounters(db: Database): Promise<string[]> {
  const rows = await db.query<{ project_slug: string; kept: string; counted: string }>(
    `with counted as (
       select p.project_slug, p.file_count || ' ' || p.storage_bytes || ' ' || p.reserved_bytes as kept,
         (select count(*) || ' ' || coalesce(sum(r.size_bytes), 0)
          from files f join file_revisions r on r.file_id = f.file_id and r.revision = f.revision
          where f.project_id = p.project_id and f.status in ('ready', 'blocked')) || ' ' ||
         (select coalesce(sum(u.size_bytes), 0) from uploads u
          where u.project_id = p.project_id and u.status not in ('ready', 'failed', 'expired')) as counted
       from projects p)
     select * from counted where kept <> counted`,
  );
  return rows.map((row) => `${row.project_slug} keeps "${row.kept}", counted are "${row.counted}"`);
}

type Published = { key: string; size_bytes: number; sha256: string | null };

/**
 * Every row must have its bytes, every object must be complete and belong to a row, and no transfer
 * may be unfinished.
 */
export async function brokenObjects(
  db: Database,
  look: (bucket: 'ingest' | 'content') => Promise<StoredObject[]>,
): Promise<string[]> {
  const published = await db.query<Published>(
    `with served as (
       select r.* from files f join file_revisions r on r.file_id = f.file_id and r.revision = f.revision
       where f.status <> 'deleted')
     select object_key as key, size_bytes, sha256 from served
     union all select m ->> 'object_key', (m ->> 'size_bytes')::bigint, null
       from served, jsonb_array_elements(mezzanines) m
     union all select value, null, null from served, jsonb_each_text(metadata)
     union all select raw_object_key, null, null from served where raw_object_key is not null`,
  );
  const known = new Map(published.map((one) => [one.key, one]));
  const objects = await look('content');
  const broken: string[] = [];
  for (const { key, sha256, size_bytes, isWhole } of objects) {
    const row = known.get(key);
    if (!isWhole) broken.push(`${key} is not whole`);
    if (row === undefined && !OF_NO_FILE.test(key)) broken.push(`${key} is nobody's`);
    if (row?.sha256 && row.sha256 !== sha256) broken.push(`${key} has other bytes than its row`);
    if (row?.size_bytes && row.size_bytes !== size_bytes) broken.push(`${key} has another size`);
    known.delete(key);
  }
  broken.push(...[...known.keys()].map((key) => `${key} has a row and no bytes`));
  const arrived = (await look('ingest')).filter(({ key }) => !OF_NO_FILE.test(key));
  return [...broken, ...arrived.map(({ key }) => `${key} is left in the ingest bucket`)];
}

export type StoredObject = { key: string; sha256: string; size_bytes: number; isWhole: boolean };

/** Returns every file below a bucket's folder. */
export async function readFolderObjects(bucket: string): Promise<StoredObject[]> {
  const entries = await readdir(bucket, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return readObject(path.slice(bucket.length + 1), await readFile(path));
    }),
  );
}

function readObject(key: string, file: Buffer): StoredObject {
  const size_bytes = file.length - TRAILER_BYTES;
  const sha256 = createHash('sha256')
    .update(file.subarray(0, Math.max(size_bytes, 0)))
    .digest('hex');
  const trailer = file.subarray(Math.max(size_bytes, 0)).toString();
  const isWhole = trailer.startsWith('tintype object 1 ') && trailer.includes(sha256);
  return { key, sha256, size_bytes, isWhole };
}

/** A day must cost the sum of its hours, and a balance must be the grants minus the charges. */
async function brokenMoney(db: Database): Promise<string[]> {
  const balances = await db.query<{ organization_id: string; why: string }>(
    `with sums as (
       select o.organization_id, o.credit_balance,
         (select coalesce(sum(credits), 0) from credit_grants g where g.organization_id = o.organization_id) as granted,
         (select coalesce(sum(delta), 0) from ledger l where l.organization_id = o.organization_id) as charged
       from organizations o)
     select organization_id, credit_balance || ' of ' || granted || ' less ' || charged as why
     from sums where credit_balance <> granted - charged`,
  );
  const days = await db.query<{ day: string; why: string }>(
    `with sums as (
       select d.day, d.credits, d.charged_credits,
         (select coalesce(sum(delta), 0) from ledger l where l.project_id = d.project_id and l.day = d.day) as ledger,
         (select coalesce(sum(credits), 0) from usage_hours h where h.project_id = d.project_id
           and (h.window_start at time zone 'UTC')::date = d.day) as hours
       from usage_days d)
     select day, charged_credits || ' charged, ledger ' || ledger || ', hours ' || hours as why
     from sums where charged_credits <> ledger or charged_credits <> hours`,
  );
  return [
    ...balances.map((row) => `the balance of ${row.organization_id} is ${row.why}`),
    ...days.map((row) => `of ${row.day}: ${row.why}`),
  ];
}
