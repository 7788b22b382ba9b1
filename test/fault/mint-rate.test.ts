/**
 * The rate limit of minted URLs across three API processes: exactly 60 per minute of the database clock, which the test
 * controls. Spec: Rates; Signing keys and signed URLs.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey, createProject, newSubject } from '../support/api-client.ts';
import { useApi } from '../support/api-server.ts';
import { type DatabaseClock, takeDatabaseClock } from '../support/database-clock.ts';
import { makeFile } from '../support/rows.ts';
import { type ApiProcess, startApiProcess } from './support/api-kills.ts';
import { makeStorage, type TestStorage } from './support/storages.ts';

const START_MS_MAX = 60_000;
const PER_MINUTE_MAX = 60;
const PROCESSES = 3;

const api = useApi();
const owner = api.session(newSubject());
let processes: ApiProcess[] = [];
let storage: TestStorage;
let secret: string;
let slug: string;
let clock: DatabaseClock;

beforeAll(async () => {
  clock = await takeDatabaseClock(api.databaseUrl(), api.db);
  const project = await createProject(owner);
  slug = project.project_slug;
  secret = await createKey(owner, slug, ['urls:sign']);
  await makeFile(api.db, project, { file_slug: 'a.png' });
  storage = await makeStorage('folder');
  const place = { db: api.db, url: api.databaseUrl(), storage, api_key: secret };
  const ofNoUpload = { project_slug: slug, bytes: { multipart: EMPTY, proxy: EMPTY } };
  processes = await Promise.all(
    Array.from({ length: PROCESSES }, () => startApiProcess({ ...place, ...ofNoUpload })),
  );
}, START_MS_MAX);

const EMPTY = Buffer.alloc(0);

afterAll(async () => {
  await Promise.all(processes.map((each) => each.end()));
  await storage?.remove();
});

type Minted = { status: number; code: string | null; retry_after: string | null };

async function mint({ baseUrl }: ApiProcess): Promise<Minted> {
  const answer = await fetch(`${baseUrl}/v1/projects/${slug}/signed-url`, {
    method: 'POST',
    headers: { 'x-api-key': secret, 'content-type': 'application/json' },
    body: JSON.stringify({ file_slug: 'a.png' }),
  });
  const body = (await answer.json()) as { error?: { code: string } };
  const retry_after = answer.headers.get('retry-after');
  return { status: answer.status, code: body.error?.code ?? null, retry_after };
}

/** Sends `each` concurrent mint requests to every process, and returns the results. */
async function mintEverywhere(each: number) {
  const answers = await Promise.all(
    processes.flatMap((one) => Array.from({ length: each }, () => mint(one))),
  );
  const minted = answers.filter(({ status }) => status === 200).length;
  const refused = answers.filter(({ status }) => status !== 200);
  return { minted, refused };
}

it('the API mints exactly 60 signed URLs per minute and project, across three processes', async () => {
  await clock.set('2026-11-21T12:00:00.500Z');
  const first = await mintEverywhere(40);
  expect(first.minted).toBe(PER_MINUTE_MAX);
  const limited = { status: 429, code: 'rate_limited', retry_after: '60' };
  expect(first.refused).toEqual(Array(PROCESSES * 40 - PER_MINUTE_MAX).fill(limited));
  await clock.set('2026-11-21T12:00:59.900Z');
  const late = await mintEverywhere(2);
  expect(late.refused).toEqual(Array(6).fill({ ...limited, retry_after: '1' }));
  await clock.set('2026-11-21T12:01:00.000Z');
  expect((await mintEverywhere(10)).minted).toBe(30);
  await clock.set('2026-11-21T12:01:59.999Z');
  expect((await mintEverywhere(30)).minted).toBe(30);
  await clock.set('2026-11-21T12:02:00.000Z');
  expect((await mintEverywhere(1)).minted).toBe(3);
  const audited = await api.db.query(
    `select 1 from audit_log where action = 'signed_url.mint' and target = 'a.png'`,
  );
  expect(audited).toHaveLength(2 * PER_MINUTE_MAX + 3);
});
