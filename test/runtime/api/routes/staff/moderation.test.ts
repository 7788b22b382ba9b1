// Spec: Staff (files, checks, moderation-notes); States and transitions, File.
import { beforeEach, describe, expect, it } from 'vitest';
import { fileRecord } from '../../../../../runtime/core/resources/file.ts';
import type { ProjectRecord } from '../../../../../runtime/core/resources/project.ts';
import { checkWithReviewsRecord } from '../../../../../runtime/core/resources/scanner-check.ts';
import { type FileRow, updateFileBlocked } from '../../../../../runtime/db/files.ts';
import {
  codeOf,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../../support/api-server.ts';
import { auditEntries } from '../../../../support/audit-entries.ts';
import { makeCheck, makeFile } from '../../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
let project: ProjectRecord;
let file: FileRow;
let check: string;

beforeEach(async () => {
  project = await createProject(owner);
  const slug = project.project_slug;
  await owner('PATCH', `/v1/projects/${slug}`, { callback_url: 'https://1.1.1.1/hook' });
  file = await makeFile(api.db, project, { file_slug: 'hero.png' });
  check = await makeCheck(api.db, file);
});

const block = (body: unknown = { reason: 'claim' }) =>
  staff('POST', `/v1/staff/files/${file.file_id}/block`, body);
const unblock = (body?: unknown) => staff('POST', `/v1/staff/files/${file.file_id}/unblock`, body);
const review = (decision: string, id = check, note?: string) =>
  staff('POST', `/v1/staff/checks/${id}/review`, { decision, ...(note ? { note } : {}) });
const status = async () => {
  const [row] = await api.db.query<{ status: string; blocked_by: string | null }>(
    'select status, blocked_by from files where file_id = $1',
    [file.file_id],
  );
  return row?.blocked_by ? `${row.status} by ${row.blocked_by}` : row?.status;
};
const events = async () => {
  const rows = await api.db.query<{ event: string }>(
    `select event from webhook_deliveries where project_id = $1 and event like 'file.%' order by created_at`,
    [project.project_id],
  );
  return rows.map(({ event }) => event);
};
const blockedByScanner = () =>
  api.db.transaction((tx) =>
    updateFileBlocked(tx, { file_id: file.file_id, blocked_by: 'scanner', reason: 'nudity' }),
  );
const newRevision = async () => {
  file = await makeFile(api.db, project, { file_slug: 'hero.png' });
  expect(file.revision).toBe(2);
};

describe('a block by staff', () => {
  it('sends one event however often it is repeated, as does unblocking', async () => {
    const answer = await block();
    expectRecord(fileRecord, answer.body);
    expect(answer.body.status).toBe('blocked');
    await block({ reason: 'another' });
    expect(await events()).toEqual(['file.blocked']);
    expect((await unblock()).body.status).toBe('ready');
    await unblock();
    expect(await events()).toEqual(['file.blocked', 'file.unblocked']);
  });

  it('removes the watermark presets that use the file, even the default', async () => {
    const of = `/v1/projects/${project.project_slug}`;
    const preset = { name: 'logo', file_slug: 'hero.png' };
    const { body } = await owner('PUT', `${of}/watermark-presets`, preset);
    await owner('PATCH', of, { default_watermark_preset_id: body.id });
    await block();
    expect((await owner('GET', `${of}/watermark-presets`)).body.items).toEqual([]);
    expect((await owner('GET', of)).body.default_watermark_preset_id).toBeNull();
  });

  it.each([
    [{}],
    [{ reason: '' }],
    [{ reason: '  ' }],
    [{ reason: '\u200e\u202e' }],
    [{ reason: 'a'.repeat(501) }],
    [{ reason: 1 }],
    [{ reason: 'a', by: 'b' }],
  ])('is rejected with 400 invalid_request for %j', async (body) =>
    expect(codeOf(await block(body))).toBe('400 invalid_request'),
  );

  it('accepts a reason that is short enough once stripped', async () => {
    const reason = 'a'.repeat(500);
    expect((await block({ reason: `  ${reason}\u200e\n` })).status).toBe(200);
    const [entry] = await auditEntries(api.db, project, 'file.block');
    expect(entry).toMatchObject({ after: { reason } });
  });

  it('returns 404 file_not_found for a deleted or nonexistent file, as does unblocking', async () => {
    await owner('DELETE', `/v1/projects/${project.project_slug}/files/hero.png`);
    expect(codeOf(await block())).toBe('404 file_not_found');
    expect(codeOf(await unblock())).toBe('404 file_not_found');
    const none = await staff('POST', '/v1/staff/files/file_none/block', { reason: 'a' });
    expect(codeOf(none)).toBe('404 file_not_found');
  });
});

describe('unblocking a file', () => {
  it('approves its flagged checks with the note', async () => {
    await block();
    await unblock({ note: 'a statue' });
    const { body } = await staff('GET', `/v1/staff/checks/${check}`);
    expectRecord(checkWithReviewsRecord, body);
    expect(body).toMatchObject({ status: 'flagged', review: 'approved' });
    expect(body.reviews).toMatchObject([
      { decision: 'approved', note: 'a statue', reviewer: STAFF_SUBJECT },
    ]);
    await unblock({ note: '' });
    expect((await staff('GET', `/v1/staff/checks/${check}`)).body.reviews).toHaveLength(1);
  });

  it('treats an empty note as no note', async () => {
    await block();
    expect((await unblock({ note: '' })).body.status).toBe('ready');
    const { reviews } = (await staff('GET', `/v1/staff/checks/${check}`)).body;
    expect(reviews).toMatchObject([{ decision: 'approved', note: null }]);
  });

  it('records its note in the audit log if there is no check to keep it', async () => {
    file = await makeFile(api.db, project, { file_slug: 'unscanned.png' });
    await block();
    await unblock({ note: 'a statue' });
    const [entry] = await auditEntries(api.db, project, 'file.unblock');
    expect(entry).toMatchObject({ target: file.file_id, after: { note: 'a statue' } });
  });
});

describe('a review', () => {
  it('unblocks a file that the scanner blocked if it approves', async () => {
    await blockedByScanner();
    const answer = await review('approved', check, 'a statue');
    expectRecord(checkWithReviewsRecord, answer.body);
    expect(answer.body).toMatchObject({ review: 'approved', reviews: [{ note: 'a statue' }] });
    expect(await status()).toBe('ready');
    expect(await events()).toEqual(['file.unblocked']);
  });

  it('does not unblock a file that staff blocked if it approves', async () => {
    await blockedByScanner();
    await block();
    await review('approved');
    expect(await status()).toBe('blocked by staff');
    expect(await events()).toEqual([]);
  });

  it('blocks a served file if it rejects, and leaves a blocked file as it is', async () => {
    await review('rejected');
    expect(await status()).toBe('blocked by staff');
    await review('rejected');
    expect(await events()).toEqual(['file.blocked']);
    expect((await staff('GET', `/v1/staff/checks/${check}`)).body.reviews).toHaveLength(2);
  });

  it('is stored, but does not change the file if its revision was replaced', async () => {
    await newRevision();
    await review('rejected');
    expect(await status()).toBe('ready');
    await blockedByScanner();
    await review('approved');
    expect(await status()).toBe('blocked by scanner');
  });

  it('is stored, but does not change a deleted file', async () => {
    await owner('DELETE', `/v1/projects/${project.project_slug}/files/hero.png`);
    expect((await review('rejected')).body.review).toBe('rejected');
    expect(await status()).toBe('deleted');
  });

  it('is accepted only for an existing, flagged check', async () => {
    const clear = await makeCheck(
      api.db,
      await makeFile(api.db, project, { file_slug: 'clear.png' }),
      [],
    );
    expect(codeOf(await review('approved', clear))).toBe('409 check_not_flagged');
    expect(codeOf(await review('approved', 'chk_none'))).toBe('404 not_found');
    const odd = await review('maybe');
    expect(codeOf(odd)).toBe('400 invalid_request');
    expect(issuesOf(odd)).toEqual(['decision']);
    expect(codeOf(await staff('GET', '/v1/staff/checks/chk_none'))).toBe('404 not_found');
  });

  it('is stored for each of ten concurrent decisions, which leave a consistent state', async () => {
    await blockedByScanner();
    const decisions = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? 'approved' : 'rejected'));
    const answers = await Promise.all(decisions.map((decision) => review(decision)));
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(200));
    const { body } = await staff('GET', `/v1/staff/checks/${check}`);
    expect(body.reviews).toHaveLength(10);
    // The reviews are concurrent, so the times of their events are in no particular order.
    const reported = (await events()).sort().join();
    expect(['file.unblocked', 'file.blocked,file.unblocked', '']).toContain(reported);
  });
});

describe('staff lists', () => {
  it('filter checks, and record the check ids of the page in the audit log', async () => {
    const other = await makeCheck(
      api.db,
      await makeFile(api.db, project, { file_slug: 'other.png' }),
      ['violence'],
    );
    const ids = async (query: string) => {
      const answer = await staff(
        'GET',
        `/v1/staff/checks?project_slug=${project.project_slug}${query}`,
      );
      return answer.body.items.map((item: { check_id: string }) => item.check_id);
    };
    expect(await ids('')).toEqual([other, check]);
    expect(await ids('&flag=violence')).toEqual([other]);
    expect(await ids('&flag=nudity&status=flagged&review=unreviewed')).toEqual([check]);
    await review('rejected');
    expect(await ids('&review=rejected')).toEqual([check]);
    expect(await ids('&status=clear')).toEqual([]);
    const page = await staff('GET', '/v1/staff/checks?limit=1');
    const [entry] = await api.db.query(
      `select after from audit_log where request_id = $1 and action = 'check.list'`,
      [page.headers['x-request-id']],
    );
    expect(entry).toEqual({ after: { check_ids: [other] } });
    expect(codeOf(await staff('GET', '/v1/staff/checks?status=odd'))).toBe('400 invalid_request');
  });

  it('show moderation notes across projects, newest first, and filter them by project and slug', async () => {
    const another = api.session(newSubject());
    const second = await createProject(another);
    await makeFile(api.db, second, { file_slug: 'hero.png' });
    for (const [call, { project_slug }] of [
      [owner, project] as const,
      [another, second] as const,
    ]) {
      const of = `/v1/projects/${project_slug}/files/hero.png/moderation-notes`;
      expect((await call('POST', of, { note: 'look' })).status).toBe(201);
    }
    const by = async (query: string) =>
      (await staff('GET', `/v1/staff/moderation-notes?${query}`)).body;
    const note = { file_slug: 'hero.png', note: 'look' };
    const page = await by('limit=1');
    expect(page.items).toMatchObject([{ ...note, project_slug: second.project_slug }]);
    const next = await by(`limit=1&cursor=${encodeURIComponent(page.next_cursor)}`);
    expect(next.items).toMatchObject([{ ...note, project_slug: project.project_slug }]);
    for (const { project_slug } of [project, second]) {
      const found = await by(`project_slug=${project_slug}&file_slug=hero.png`);
      expect(found.items).toMatchObject([{ ...note, project_slug }]);
      expect((await by(`project_slug=${project_slug}&file_slug=other.png`)).items).toEqual([]);
    }
  });
});
