// Spec: Staff (projects, organizations); Project; Project (status).
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deleteFile } from '../../../../../runtime/actions/delete-file.ts';
import { organizationRecord } from '../../../../../runtime/core/resources/organization.ts';
import {
  type ProjectRecord,
  staffProjectRecord,
} from '../../../../../runtime/core/resources/project.ts';
import { findFileById, updateFileBlocked } from '../../../../../runtime/db/files.ts';
import {
  codeOf,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
  signatureOf,
} from '../../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../../support/api-server.ts';
import { auditEntries } from '../../../../support/audit-entries.ts';
import { makeCheck, makeFile, makeUpload } from '../../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
let project: ProjectRecord;
let path: string;

beforeAll(async () => {
  // The first login writes an audit entry of its own.
  await staff('GET', '/v1/me');
});
beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/staff/projects/${project.project_slug}`;
});

const patch = (body: unknown, at = path) => staff('PATCH', at, body);
const trail = (request_id: unknown) =>
  api.db.query<{ action: string }>(
    'select action, actor_kind, actor_id, before, after from audit_log where request_id = $1',
    [request_id],
  );
const purges = () =>
  api.db.query<{ reason: string }>('select reason from purges where project_id = $1', [
    project.project_id,
  ]);
const lived = async (file_id: string) => {
  const [row] = await api.db.query<{ status: string }>(
    'select status from files where file_id = $1',
    [file_id],
  );
  return row?.status;
};

describe('a project under /v1/staff/projects', () => {
  it('can be read by staff, including nudity_auto_block, and the read is audited', async () => {
    const answer = await staff('GET', path);
    expectRecord(staffProjectRecord, answer.body);
    expect(answer.body).toMatchObject({ ...project, nudity_auto_block: false });
    expect(await trail(answer.headers['x-request-id'])).toMatchObject([
      { action: 'project.read', actor_kind: 'staff', actor_id: STAFF_SUBJECT },
    ]);
  });

  it('is changed only if If-Match has its current ETag', async () => {
    const { etag: tag = '' } = (await staff('GET', path)).headers;
    const price = async (pricing_multiplier: number, ifMatch: string) => {
      const raw = JSON.stringify({ pricing_multiplier });
      const session = await api.sessionHeaders(STAFF_SUBJECT);
      const headers = { ...session, ...signatureOf('PATCH', path, raw), 'if-match': ifMatch };
      return api.send({ method: 'PATCH', path, raw, headers });
    };
    expect(codeOf(await price(3, '"stranger"'))).toBe('412 precondition_failed');
    expect((await staff('GET', path)).body.pricing_multiplier).toBe(1);
    const answer = await price(3, tag);
    expect([answer.status, answer.body.pricing_multiplier]).toEqual([200, 3]);
    expect(answer.headers.etag).toBe((await staff('GET', path)).headers.etag);
    expect(codeOf(await price(4, tag))).toBe('412 precondition_failed');
  });

  it('is listed across organizations and with its own organization only', async () => {
    const other = await createProject(api.session(newSubject()));
    const all = await staff('GET', '/v1/staff/projects?limit=2');
    expect(all.body.items.map((item: ProjectRecord) => item.project_slug)).toEqual([
      other.project_slug,
      project.project_slug,
    ]);
    const of = `/v1/staff/projects?organization_id=${other.organization_id}`;
    expect((await staff('GET', of)).body.items).toHaveLength(1);
    expect((await staff('GET', '/v1/staff/projects?organization_id=org_none')).body.items).toEqual(
      [],
    );
    const next = encodeURIComponent(all.body.next_cursor);
    expect(codeOf(await staff('GET', `${of}&cursor=${next}`))).toBe('400 invalid_cursor');
  });

  it('cannot be reactivated by its owner once staff have suspended it', async () => {
    await owner('PATCH', `/v1/projects/${project.project_slug}`, { status: 'suspended' });
    expect((await patch({ status: 'suspended' })).body).toMatchObject({ suspended_by: 'staff' });
    const back = await owner('PATCH', `/v1/projects/${project.project_slug}`, { status: 'active' });
    expect(codeOf(back)).toBe('403 project_suspended_by_staff');
    expect((await patch({ status: 'active' })).body).toMatchObject({
      status: 'active',
      suspended_by: null,
    });
  });

  it('gets its limit, price and nudity_auto_block from staff, audited with the previous values', async () => {
    const set = {
      storage_hard_limit_bytes: 5000,
      pricing_multiplier: 1.5,
      nudity_auto_block: true,
    };
    const answer = await patch(set);
    expect(answer.body).toMatchObject({ ...set, storage_limit_source: 'staff' });
    const [entry] = await trail(answer.headers['x-request-id']);
    expect(entry).toMatchObject({
      action: 'project.update',
      before: { storage_hard_limit_bytes: null, pricing_multiplier: 1, nudity_auto_block: false },
      after: set,
    });
    expect((await patch({ storage_hard_limit_bytes: null })).body.storage_limit_source).toBe(
      'plan',
    );
    const again = await patch({ nudity_auto_block: true });
    expect(await trail(again.headers['x-request-id'])).toEqual([]);
  });

  it.each([
    [{ name: 'x' }, 'name'],
    [{ custom_domains: 'img.example' }, 'custom_domains'],
    [{ custom_domains: ['https://img.example'] }, 'custom_domains[0]'],
    [{ custom_domains: ['ok.example', 'images.test'] }, 'custom_domains[1]'],
    [{ custom_domains: ['Shop.Images.Test'] }, 'custom_domains[0]'],
    [{ custom_domains: Array.from({ length: 33 }, (_, n) => `h${n}.example`) }, 'custom_domains'],
    [{ storage_hard_limit_bytes: -1 }, 'storage_hard_limit_bytes'],
    [{ pricing_multiplier: 'x' }, 'pricing_multiplier'],
    [{ status: 'deleted' }, 'status'],
    [{ nudity_auto_block: 'yes' }, 'nudity_auto_block'],
  ])('rejects %j, naming the field', async (body, field) => {
    const answer = await patch(body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual([field]);
  });

  it('returns 404 not_found if it does not exist', async () => {
    for (const method of ['GET', 'PATCH'])
      expect(codeOf(await staff(method, '/v1/staff/projects/none', {}))).toBe('404 not_found');
  });
});

describe('custom domains', () => {
  it('are replaced as a whole list, normalized and shown to the owner; removing one purges caches', async () => {
    const list = ['IMG.Shop.Example', 'cdn.shop.example', 'img.shop.example'];
    const { body } = await patch({ custom_domains: list });
    expect(body.custom_domains).toEqual(['img.shop.example', 'cdn.shop.example']);
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(project.updated_at));
    expect(await purges()).toEqual([]);
    await patch({ custom_domains: ['cdn.shop.example'] });
    expect(new Set((await purges()).map(({ reason }) => reason))).toEqual(
      new Set(['custom_domains']),
    );
    const seen = await owner('GET', `/v1/projects/${project.project_slug}`);
    expect(seen.body.custom_domains).toEqual(['cdn.shop.example']);
  });

  it('return 409 custom_domain_taken if another project has one, even for concurrent requests', async () => {
    const others = await Promise.all(Array.from({ length: 8 }, () => createProject(owner)));
    const custom_domains = ['race.example'];
    const answers = await Promise.all(
      others.map(({ project_slug }) =>
        patch({ custom_domains }, `/v1/staff/projects/${project_slug}`),
      ),
    );
    const codes = answers.map((answer) => (answer.status === 200 ? 'has it' : codeOf(answer)));
    expect(codes.toSorted()).toEqual([...Array(7).fill('409 custom_domain_taken'), 'has it']);
    expect(codeOf(await patch({ custom_domains: ['free.example', 'RACE.example'] }))).toBe(
      '409 custom_domain_taken',
    );
    expect((await staff('GET', path)).body.custom_domains).toEqual([]);
  });
});

describe('disabling nudity_auto_block', () => {
  const file = async (file_slug: string, blocked_by: 'scanner' | 'staff', decision?: string) => {
    const row = await makeFile(api.db, project, { file_slug });
    const check = await makeCheck(api.db, row);
    await api.db.transaction((tx) =>
      updateFileBlocked(tx, { file_id: row.file_id, blocked_by, reason: 'nudity' }),
    );
    if (decision) await staff('POST', `/v1/staff/checks/${check}/review`, { decision });
    return row.file_id;
  };

  it('unblocks the files that the scanner blocked without a review, and no others', async () => {
    await patch({ nudity_auto_block: true });
    const [unseen, rejected, byStaff] = [
      await file('unseen.png', 'scanner'),
      await file('rejected.png', 'scanner', 'rejected'),
      await file('staff.png', 'staff'),
    ];
    await patch({ nudity_auto_block: true });
    expect(await lived(unseen)).toBe('blocked');
    const answer = await patch({ nudity_auto_block: false });
    expect(await Promise.all([unseen, rejected, byStaff].map(lived))).toEqual([
      'ready',
      'blocked',
      'blocked',
    ]);
    const trailActions = await trail(answer.headers['x-request-id']);
    expect(trailActions.map(({ action }) => action).toSorted()).toEqual([
      'file.unblock',
      'project.update',
    ]);
    const { body } = await staff('GET', '/v1/staff/checks?review=unreviewed');
    expect(body.items.map((item: { file_id: string }) => item.file_id)).toContain(unseen);
  });

  it('frees the slugs of deleted files that the scanner blocked without a review, and no others', async () => {
    await patch({ nudity_auto_block: true });
    const { project_id } = project;
    const ids = [
      await file('unseen.png', 'scanner'),
      await file('rejected.png', 'scanner', 'rejected'),
      await file('staff.png', 'staff'),
    ];
    const actor = { actor_kind: 'system', actor_id: 'test' } as const;
    for (const file_slug of ['unseen.png', 'rejected.png', 'staff.png'])
      await deleteFile(api.db, { project_id, file_slug, actor });
    const answer = await patch({ nudity_auto_block: false });
    expect(await auditEntries(api.db, project, 'file.unblock')).toEqual([
      {
        action: 'file.unblock',
        target: ids[0],
        before: { blocked_by: 'scanner', reason: 'nudity' },
        after: { status: 'deleted' },
        actor_kind: 'staff',
        actor_id: STAFF_SUBJECT,
        request_id: answer.headers['x-request-id'],
      },
    ]);
    const rows = await Promise.all(ids.map((id) => findFileById(api.db, id)));
    expect(rows.map((row) => row?.blocked_by)).toEqual([null, 'scanner', 'staff']);
  });
});

describe('files and uploads of a project', () => {
  it('are listed by status and prefix', async () => {
    for (const file_slug of ['a1.png', 'a2.png', 'b.png'])
      await makeFile(api.db, project, { file_slug });
    const { upload_id } = await makeUpload(api.db, project);
    const slugs = async (query: string) =>
      (await staff('GET', `${path}/files${query}`)).body.items.map(
        (item: { file_slug: string }) => item.file_slug,
      );
    expect(await slugs('')).toEqual(['b.png', 'a2.png', 'a1.png']);
    expect(await slugs('?q=a&limit=1')).toEqual(['a2.png']);
    expect(await slugs('?status=blocked')).toEqual([]);
    expect(issuesOf(await staff('GET', `${path}/files?folder=x`))).toEqual(['folder']);
    const uploads = await staff('GET', `${path}/uploads?status=created`);
    expect(uploads.body.items).toMatchObject([{ upload_id }]);
  });
});

describe('an organization under /v1/staff/organizations', () => {
  const of = () => `/v1/staff/organizations/${project.organization_id}`;

  it('can be read with its quota state, and the read is audited', async () => {
    const answer = await staff('GET', of());
    expectRecord(organizationRecord, answer.body);
    expect(await trail(answer.headers['x-request-id'])).toMatchObject([
      { action: 'organization.read', actor_id: STAFF_SUBJECT },
    ]);
    expect(codeOf(await staff('GET', '/v1/staff/organizations/org_none'))).toBe('404 not_found');
  });

  it('is exempted immediately, whatever its balance, and until now when the exemption ends', async () => {
    await staff('PATCH', of(), { billing_exempt: false });
    await api.db.query(
      'update organizations set credit_balance = 0, quota_exceeded_at = now() where organization_id = $1',
      [project.organization_id],
    );
    const on = await staff('PATCH', of(), { billing_exempt: true });
    expect(on.body).toMatchObject({ billing_exempt: true, quota_exceeded_at: null });
    const again = await staff('PATCH', of(), { billing_exempt: true });
    expect(await trail(again.headers['x-request-id'])).toEqual([]);
    const off = await staff('PATCH', of(), { billing_exempt: false });
    expect(off.body.billing_exempt).toBe(false);
    expect(Math.abs(Date.parse(off.body.billing_exempt_until) - Date.now())).toBeLessThan(60_000);
    expect(await trail(off.headers['x-request-id'])).toMatchObject([
      {
        action: 'organization.update',
        before: { billing_exempt: true },
        after: { billing_exempt: false },
      },
    ]);
  });

  it('gets exemption intervals that do not overlap when changed concurrently', async () => {
    const calls = [true, false, true, false, true, false];
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        calls.map((billing_exempt) => staff('PATCH', of(), { billing_exempt })),
      );
      expect(answers.map(codeOf)).toEqual(calls.map(() => '200'));
    }
    const overlapping = await api.db.query(
      `select from organization_exemptions a join organization_exemptions b
         on a.organization_id = b.organization_id and a.starts_at < b.starts_at
       where a.organization_id = $1 and (a.ends_at is null or a.ends_at > b.starts_at)`,
      [project.organization_id],
    );
    expect(overlapping).toEqual([]);
  });

  it.each([[{}], [{ billing_exempt: 'yes' }], [{ billing_exempt: true, name: 'x' }]])(
    'rejects %j',
    async (body) => expect(codeOf(await staff('PATCH', of(), body))).toBe('400 invalid_request'),
  );

  it('returns 404 not_found if it does not exist', async () => {
    const answer = await staff('PATCH', '/v1/staff/organizations/org_none', {
      billing_exempt: true,
    });
    expect(codeOf(answer)).toBe('404 not_found');
  });
});
