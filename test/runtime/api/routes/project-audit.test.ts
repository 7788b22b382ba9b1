// The audit log of projects: who changed what, the value before, by which request, and never a secret.
import { beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { codeOf, createProject, newSubject } from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
const staff = api.session(STAFF_SUBJECT);
let project: ProjectRecord;

beforeEach(async () => {
  project = await createProject(owner);
});

const patch = (body: unknown, call = owner) =>
  call('PATCH', `/v1/projects/${project.project_slug}`, body);

const entries = async () => {
  const rows = await api.db.query<Record<string, unknown>>(
    'select * from audit_log where project_id = $1 order by audit_id',
    [project.project_id],
  );
  return rows.map(({ audit_id, created_at, ...entry }) => entry);
};
const lastChange = async () => {
  const { before, after } = (await entries()).at(-1) ?? {};
  return { before, after };
};

describe('the audit log of projects', () => {
  it('has one entry for a creation, with the settings', async () => {
    const { project_id, organization_id, project_slug } = project;
    expect(await entries()).toEqual([
      expect.objectContaining({
        organization_id,
        project_id,
        actor_kind: 'user',
        actor_id: subject,
        action: 'project.create',
        target: project_slug,
        before: null,
        after: expect.objectContaining({ name: project_slug, delivery_access: 'public' }),
      }),
    ]);
  });

  it('records the settings that changed, before and after', async () => {
    const answer = await patch({ name: 'New', delivery_access: 'protected', status: 'active' });
    const [, entry, ...more] = await entries();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      action: 'project.update',
      actor_kind: 'user',
      request_id: answer.headers['x-request-id'],
    });
    expect(await lastChange()).toEqual({
      before: { name: project.name, delivery_access: 'public' },
      after: { name: 'New', delivery_access: 'protected' },
    });
  });

  it('has no entry for a change without effect or a rejected change', async () => {
    await patch({});
    await patch({ name: project.name, raw_download_enabled: false, callback_url: null });
    expect(codeOf(await patch({ name: 'New', rotate_callback_secret: true }))).toBe(
      '400 invalid_request',
    );
    expect(codeOf(await patch({ pricing_multiplier: 2 }))).toBe('403 staff_only_field');
    expect(await entries()).toHaveLength(1);
  });

  it('names staff and the staff-only fields that they changed', async () => {
    await patch({ pricing_multiplier: 1.5, storage_hard_limit_bytes: 5 }, staff);
    expect((await entries()).at(-1)).toMatchObject({
      actor_kind: 'staff',
      actor_id: STAFF_SUBJECT,
      before: { pricing_multiplier: 1, storage_hard_limit_bytes: null },
      after: { pricing_multiplier: 1.5, storage_hard_limit_bytes: 5 },
    });
    const before = (await entries()).length;
    await patch({ pricing_multiplier: 1.5 }, staff);
    expect(await entries()).toHaveLength(before);
  });

  it('records that a callback secret is new, but not the secret, and only the origin of a URL', async () => {
    const first = await patch({ callback_url: 'https://1.1.1.1/hook?token=hidden' });
    const callback_origin = 'https://1.1.1.1';
    expect(await lastChange()).toEqual({
      before: { callback_origin: null },
      after: { callback_origin, callback_secret: 'new' },
    });
    const elsewhere = { callback_url: 'https://1.1.1.1/other?token=hidden' };
    for (const _ of [1, 2]) await patch(elsewhere);
    expect(await lastChange()).toEqual({ before: {}, after: { callback_path: 'new' } });
    expect(await entries()).toHaveLength(3);
    const second = await patch({ rotate_callback_secret: true });
    expect(await lastChange()).toEqual({ before: {}, after: { callback_secret: 'new' } });
    await patch({ callback_url: null });
    expect(await lastChange()).toEqual({
      before: { callback_origin },
      after: { callback_origin: null },
    });
    const written = JSON.stringify(await entries());
    for (const { body } of [first, second]) expect(written).not.toContain(body.callback_secret);
    expect(written).not.toContain('hidden');
  });
});
