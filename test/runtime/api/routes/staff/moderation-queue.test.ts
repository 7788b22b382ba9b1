// Spec: Staff, checks; States and transitions, File. Works through a queue of a hundred checks as docs/moderation.md
// describes, through the API alone: decisions depend only on the images that it shows.
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../../runtime/core/resources/project.ts';
import type { CheckRecord } from '../../../../../runtime/core/resources/scanner-check.ts';
import { updateFileBlocked } from '../../../../../runtime/db/files.ts';
import { startWorker, type Worker } from '../../../../../runtime/worker/serve.ts';
import { createProject, newSubject } from '../../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../../support/api-server.ts';
import { makeCheck, makeProcessing, publish, randomHash } from '../../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
const CHECKS = 100;
const SIZE = { width: 48, height: 32 };
/** The number of images that owners replace during moderation. */
const CHANGES = 6;
let changes = 0;
let worker: Worker;
let projects: ProjectRecord[];
/** What the newest image of each file shows. */
const truth = new Map<string, 'bad' | 'fine'>();

beforeAll(async () => {
  const slots = { ingest: { slots: 0 }, render: { slots: 1 } };
  worker = await startWorker({ ...api.deps(), ...slots });
  projects = await Promise.all([1, 2, 3, 4].map(() => createProject(owner)));
});
afterAll(() => worker.stop());

/** Publishes an image (red if bad) and flags it, as a scanner would, rightly or wrongly. */
async function upload(project: ProjectRecord, file_slug: string, shows: 'bad' | 'fine') {
  const background = shows === 'bad' ? '#d01010' : '#10a010';
  const picture = await sharp({ create: { ...SIZE, channels: 3, background } })
    .jpeg()
    .toBuffer();
  const object_key = `masters/${randomHash()}`;
  const content_type = 'image/jpeg';
  await api.deps().buckets.content.write(object_key, picture, { content_type });
  const processing = await makeProcessing(api.db, project, { file_slug });
  const file = await publish(api.db, processing, {
    ...{ ...SIZE, object_key, content_type, mezzanines: [] },
  });
  truth.set(file.file_id, shows);
  await makeCheck(api.db, file);
  return file;
}

async function fillQueue(): Promise<void> {
  for (let number = 0; number < CHECKS; number++) {
    const project = projects[number % projects.length];
    if (project === undefined) throw new Error('no project');
    const file = await upload(project, `hero-${number}.jpg`, number % 3 === 0 ? 'bad' : 'fine');
    // Two of the four projects let the scanner block immediately.
    if (number % projects.length < 2) {
      const { file_id } = file;
      await api.db.transaction((tx) =>
        updateFileBlocked(tx, { file_id, blocked_by: 'scanner', reason: 'nudity' }),
      );
    }
  }
}

/** Judges a check by its image. Retries while another preview is being rendered. */
async function look({ check_id }: CheckRecord): Promise<'bad' | 'fine'> {
  for (;;) {
    const { status, bytes } = await staff('GET', `/v1/staff/checks/${check_id}/image?size=thumb`);
    if (status === 503) continue;
    expect(status).toBe(200);
    const { channels } = await sharp(bytes).stats();
    return (channels[0]?.mean ?? 0) > (channels[1]?.mean ?? 0) ? 'bad' : 'fine';
  }
}

/** Reviews page after page, until the queue is empty. */
async function moderate(filter: string, between: () => Promise<void> = async () => undefined) {
  for (;;) {
    const query = `status=flagged&review=unreviewed&limit=20${filter}`;
    const { body } = await staff('GET', `/v1/staff/checks?${query}`);
    const items: CheckRecord[] = body.items;
    if (items.length === 0) return;
    await between();
    for (const check of items) {
      const decision = (await look(check)) === 'bad' ? 'rejected' : 'approved';
      const answer = await staff('POST', `/v1/staff/checks/${check.check_id}/review`, { decision });
      expect(answer.status).toBe(200);
    }
  }
}

/** While staff decide on an image, its owner replaces it: bad by fine, or the reverse. */
async function changeSome(): Promise<void> {
  const [project] = projects;
  const [row] = await api.db.query<{ file_id: string; file_slug: string }>(
    `select file_id, file_slug from files where project_id = $1 and revision = 1 order by file_slug limit 1`,
    [project?.project_id],
  );
  if (project === undefined || row === undefined || changes === CHANGES) return;
  changes += 1;
  await upload(project, row.file_slug, truth.get(row.file_id) === 'bad' ? 'fine' : 'bad');
}

it('two moderators empty the queue during new uploads, and exactly the bad pictures end up blocked', {
  timeout: 400_000,
}, async () => {
  await fillQueue();
  const [first = '', second = '', third = '', fourth = ''] = projects.map(
    ({ project_slug }) => `&project_slug=${project_slug}`,
  );
  await Promise.all([
    moderate(first, changeSome).then(() => moderate(third)),
    moderate(second).then(() => moderate(fourth)),
  ]);
  const files = await api.db.query<{ file_id: string; status: string }>(
    'select file_id, status from files where file_id = any($1)',
    [[...truth.keys()]],
  );
  expect(files).toHaveLength(CHECKS);
  const wrong = files.filter(
    ({ file_id, status }) => status !== (truth.get(file_id) === 'bad' ? 'blocked' : 'ready'),
  );
  expect(wrong).toEqual([]);
  const undecided = await staff('GET', '/v1/staff/checks?status=flagged&review=unreviewed');
  expect(undecided.body.items).toEqual([]);
});

it('every review is in the audit log with its reviewer', async () => {
  const [row] = await api.db.query<{ unnoted: number }>(
    `select count(*)::integer as unnoted from check_reviews r where not exists (
       select from audit_log a where a.action = 'check.review' and a.target = r.check_id and a.actor_id = $1)`,
    [STAFF_SUBJECT],
  );
  expect(row?.unnoted).toBe(0);
});
