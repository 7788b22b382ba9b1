// Spec: States and transitions, File; Staff, checks. Staff decide on an image that was replaced meanwhile, or that the
// scanner has not seen yet.
import { beforeEach, describe, expect, it } from 'vitest';
import { publishFile } from '../../../../../runtime/actions/publish-file.ts';
import { recordScanResult } from '../../../../../runtime/actions/record-scan-result.ts';
import type { ProjectRecord } from '../../../../../runtime/core/resources/project.ts';
import { type FileRow, findFileById } from '../../../../../runtime/db/files.ts';
import { claimChecks } from '../../../../../runtime/db/scan-claims.ts';
import { systemClock } from '../../../../../runtime/platform/clock.ts';
import { createProject, newSubject } from '../../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../../support/api-server.ts';
import { auditEntries } from '../../../../support/audit-entries.ts';
import { makeProcessing, must, newRevision } from '../../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
const file_slug = 'hero.png';
let project: ProjectRecord;

beforeEach(async () => {
  await api.db.query('delete from scanner_checks');
  project = await createProject(owner);
  const { project_slug } = project;
  await owner('PATCH', `/v1/projects/${project_slug}`, { callback_url: 'https://1.1.1.1/hook' });
  await staff('PATCH', `/v1/staff/projects/${project_slug}`, { nudity_auto_block: true });
});

/** Publishes the next revision of the file; its check is queued. */
async function upload(): Promise<FileRow> {
  const processing = await makeProcessing(api.db, project, { file_slug });
  const { upload_id, attempt } = processing;
  const facts = newRevision(processing);
  const publication = { upload_id, attempt, facts, taken_at: null, location: null };
  return must(await publishFile({ db: api.db, clock: systemClock, is_scanned: true }, publication));
}

/** Scans the check that has waited longest, and returns its id. */
async function scan(nudity: number): Promise<string> {
  const [claimed] = await claimChecks(api.db, { limit: 1, lease_seconds: 60 });
  const result = { check: must(claimed), scores: { nudity }, thresholds: {} };
  await api.db.transaction((tx) => recordScanResult(tx, result));
  return must(claimed).check_id;
}

async function uploadScanned(nudity: number): Promise<{ file: FileRow; check: string }> {
  const file = await upload();
  return { file, check: await scan(nudity) };
}

const review = (check: string, decision: 'approved' | 'rejected') =>
  staff('POST', `/v1/staff/checks/${check}/review`, { decision });
const of = (file: FileRow) => `/v1/staff/files/${file.file_id}`;
const remove = () => owner('DELETE', `/v1/projects/${project.project_slug}/files/${file_slug}`);
const status = async ({ file_id }: FileRow) => must(await findFileById(api.db, file_id)).status;
const queue = async () =>
  (await staff('GET', '/v1/staff/checks?status=flagged&review=unreviewed')).body.items;
const events = async () => {
  const rows = await api.db.query<{ event: string }>(
    `select event from webhook_deliveries where project_id = $1 and event like 'file.%' order by created_at`,
    [project.project_id],
  );
  return rows.map(({ event }) => event);
};

describe('approving a scanner block after another revision was uploaded', () => {
  it('unblocks the file if the new revision is clear, without another review', async () => {
    const { check } = await uploadScanned(0.99);
    const { file } = await uploadScanned(0.01);
    expect(await status(file)).toBe('blocked');
    await review(check, 'approved');
    expect(await status(file)).toBe('ready');
    expect(await events()).toEqual(['file.blocked', 'file.unblocked']);
    expect(await queue()).toEqual([]);
  });

  it('unblocks the file as soon as the new revision is found clear, with a single event', async () => {
    const { check } = await uploadScanned(0.99);
    const file = await upload();
    await review(check, 'approved');
    expect(await status(file)).toBe('blocked');
    await scan(0.01);
    expect(await status(file)).toBe('ready');
    expect(await events()).toEqual(['file.blocked', 'file.unblocked']);
    const [entry] = await auditEntries(api.db, project, 'file.unblock');
    expect(entry).toMatchObject({ actor_kind: 'system', actor_id: 'scanner' });
  });

  it('keeps the file blocked until every revision flagged since is approved', async () => {
    const { check: first } = await uploadScanned(0.99);
    const { check: second } = await uploadScanned(0.98);
    const { file } = await uploadScanned(0.01);
    await review(first, 'approved');
    expect(await status(file)).toBe('blocked');
    await review(second, 'rejected');
    expect(await status(file)).toBe('blocked');
    await review(second, 'approved');
    expect(await status(file)).toBe('ready');
  });

  it('keeps the file blocked if staff blocked it or the new revision was not scanned', async () => {
    const { check } = await uploadScanned(0.99);
    const unseen = await upload();
    await api.db.query(`update scanner_checks set status = 'failed' where status = 'queued'`);
    await review(check, 'approved');
    expect(await status(unseen)).toBe('blocked');
    await staff('POST', `${of(unseen)}/block`, { reason: 'claim' });
    const { file } = await uploadScanned(0.01);
    await review(check, 'approved');
    expect(await status(file)).toBe('blocked');
  });

  it('frees the slug of a deleted file for the next upload', async () => {
    const { check } = await uploadScanned(0.99);
    await remove();
    await review(check, 'approved');
    const { file } = await uploadScanned(0.01);
    expect(await status(file)).toBe('ready');
    expect(await events()).toEqual(['file.blocked']);
  });

  it('unblocks the file that has taken the slug since', async () => {
    const { check } = await uploadScanned(0.99);
    await remove();
    const { file } = await uploadScanned(0.01);
    expect(await status(file)).toBe('blocked');
    await review(check, 'approved');
    expect(await status(file)).toBe('ready');
  });
});

describe('unblocking a file before its scan', () => {
  const letGo = async (file: FileRow) => {
    await staff('POST', `${of(file)}/block`, { reason: 'claim' });
    await staff('POST', `${of(file)}/unblock`, { note: 'a statue' });
    await staff('POST', `${of(file)}/unblock`, { note: 'again' });
  };

  it('approves what the scan then flags, so that the file is not blocked', async () => {
    const file = await upload();
    await letGo(file);
    const check = await scan(0.99);
    expect(await status(file)).toBe('ready');
    expect(await queue()).toEqual([]);
    const { body } = await staff('GET', `/v1/staff/checks/${check}`);
    expect(body).toMatchObject({ status: 'flagged', review: 'approved' });
    expect(body.reviews).toMatchObject([{ decision: 'approved', note: 'a statue' }]);
  });

  it('does not count as a review if the check is clear', async () => {
    await letGo(await upload());
    const { body } = await staff('GET', `/v1/staff/checks/${await scan(0.01)}`);
    expect(body).toMatchObject({ status: 'clear', review: 'unreviewed' });
  });

  it('does not apply to the next revision', async () => {
    await letGo(await upload());
    const file = await upload();
    await scan(0.99);
    expect(await status(file)).toBe('ready');
    await scan(0.99);
    expect(await status(file)).toBe('blocked');
  });
});
