// Spec: Projects (POST, GET); Project.
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRecord } from '../../../../runtime/core/resources/project.ts';
import { RESERVED_PROJECT_SLUGS } from '../../../../runtime/core/slug.ts';
import {
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { waitPatiently } from '../../../support/patient-database.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
const newSlug = () => `p-${randomBytes(6).toString('hex')}`;
let organization_id: string;

beforeAll(async () => {
  organization_id = (await owner('GET', '/v1/me')).body.organization.organization_id;
});

describe('POST /v1/projects', () => {
  it('creates a project with defaults and its first signing key', async () => {
    const project_slug = newSlug();
    const { status, body } = await owner('POST', '/v1/projects', { project_slug });
    expect(status).toBe(201);
    expectRecord(projectRecord, body);
    expect(body).toMatchObject({
      project_slug,
      organization_id,
      name: project_slug,
      delivery_access: 'public',
      default_delivery_host: `${project_slug}.images.test`,
      custom_domains: [],
      cors_allowed_origins: [],
      resolution_presets: {},
      allowed_transform_chains: [],
      default_watermark_preset_id: null,
      raw_download_enabled: false,
      callback_url: null,
      callback_secret_set: false,
      status: 'active',
      suspended_by: null,
      storage_hard_limit_bytes: 2 ** 30,
      storage_limit_source: 'plan',
      file_count: 0,
      storage_bytes: 0,
      pricing_multiplier: 1,
    });
    expect(body).not.toHaveProperty('callback_secret');
    const keys = await api.db.query(
      `select kid from signing_keys where project_id = $1 and status = 'active'`,
      [body.project_id],
    );
    expect(keys).toEqual([{ kid: body.active_signing_kid }]);
  });

  it('accepts all settings of a new project', async () => {
    const settings = {
      name: '  Shop ü  ',
      delivery_access: 'protected',
      cors_allowed_origins: ['https://SHOP.example', 'http://localhost:3000', '*'],
      resolution_presets: { thumb: 'resize/200x200/smart', 'a.b_c-1': 'format/webp' },
      allowed_transform_chains: ['resize/640x480', 'preset:thumb'],
    };
    const body = await createProject(owner, settings);
    expectRecord(projectRecord, body);
    expect(body).toMatchObject({
      ...settings,
      name: 'Shop ü',
      cors_allowed_origins: ['https://shop.example', 'http://localhost:3000', '*'],
    });
    const { body: read } = await owner('GET', `/v1/projects/${body.project_slug}`);
    expect(read).toEqual(body);
  });

  it('accepts slug as a deprecated alias of project_slug', async () => {
    const slug = newSlug();
    const { status, body } = await owner('POST', '/v1/projects', { slug });
    expect([status, body.project_slug]).toEqual([201, slug]);
    const both = await owner('POST', '/v1/projects', { slug: newSlug(), project_slug: newSlug() });
    expect(codeOf(both)).toBe('400 invalid_request');
    expect(issuesOf(both)).toEqual(['slug']);
    const same = { slug: newSlug() };
    const twice = { ...same, project_slug: same.slug };
    expect((await owner('POST', '/v1/projects', twice)).status).toBe(201);
  });

  it('returns 409 project_exists for a taken slug, also to all but one of 50 concurrent requests', async () => {
    waitPatiently(api);
    const { project_slug } = await createProject(owner);
    const stranger = api.session(newSubject());
    for (const call of [owner, stranger]) {
      expect(codeOf(await call('POST', '/v1/projects', { project_slug }))).toBe(
        '409 project_exists',
      );
    }
    const raced = { project_slug: newSlug() };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 === 0 ? owner : stranger)('POST', '/v1/projects', raced),
      ),
    );
    expect(answers.map(codeOf).toSorted()).toEqual([
      '201',
      ...Array(49).fill('409 project_exists'),
    ]);
    const keys = await api.db.query(
      'select 1 from signing_keys join projects using (project_id) where project_slug = $1',
      [raced.project_slug],
    );
    expect(keys).toHaveLength(1);
  });

  it('rejects reserved words and slugs that are not DNS labels', async () => {
    expect(RESERVED_PROJECT_SLUGS).toHaveLength(17);
    const wrong = ['', '-a', 'a-', 'a.b', 'a_b', 'Shop', 'é', 'a b', 'x'.repeat(64), 1, null];
    for (const project_slug of [...RESERVED_PROJECT_SLUGS, ...wrong]) {
      const answer = await owner('POST', '/v1/projects', { project_slug });
      expect(codeOf(answer), String(project_slug)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual(['project_slug']);
    }
    expect(issuesOf(await owner('POST', '/v1/projects', {}))).toEqual(['project_slug']);
    const long = newSlug().padEnd(63, 'x');
    expect((await owner('POST', '/v1/projects', { project_slug: long })).status).toBe(201);
  });

  it('names all wrong fields with their paths, and creates nothing', async () => {
    const project_slug = newSlug();
    const answer = await owner('POST', '/v1/projects', {
      project_slug,
      name: '',
      delivery_access: 'secret',
      cors_allowed_origins: ['https://ok.example', 'https://x.example/path'],
      resolution_presets: { thumb: 'resize/0x0' },
      allowed_transform_chains: ['nonsense'],
    });
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual([
      'name',
      'delivery_access',
      'cors_allowed_origins[1]',
      'resolution_presets.thumb',
      'allowed_transform_chains[0]',
    ]);
    expect(codeOf(await owner('GET', `/v1/projects/${project_slug}`))).toBe('404 not_found');
  });

  it('rejects unknown fields and those that only PATCH accepts', async () => {
    for (const field of [
      'colour',
      'status',
      'callback_url',
      'custom_domains',
      'nudity_auto_block',
    ]) {
      const body = { project_slug: newSlug(), [field]: null };
      expect(codeOf(await owner('POST', '/v1/projects', body)), field).toBe('400 invalid_request');
    }
  });

  it('returns 409 project_quota_exceeded beyond the plan’s number, even to concurrent requests', async () => {
    waitPatiently(api);
    const tenant = api.session(newSubject());
    const { organization } = (await tenant('GET', '/v1/me')).body;
    const { trial } = api.deps().plans;
    api.change({ plans: { trial: { ...trial, projects: 3 } } });
    const create = () => tenant('POST', '/v1/projects', { project_slug: newSlug() });
    const answers = await Promise.all(Array.from({ length: 10 }, create));
    const refused = answers.filter((answer) => codeOf(answer) === '409 project_quota_exceeded');
    expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([3, 7]);
    expect(refused[0]?.body.error.details).toEqual({ max_projects: 3 });
    const { items } = (await tenant('GET', '/v1/projects')).body;
    await tenant('DELETE', `/v1/projects/${items[0].project_slug}`);
    expect(codeOf(await create())).toBe('409 project_quota_exceeded');
    // A repeated call whose answer was lost.
    const { project_slug } = items[0];
    const again = await tenant('POST', '/v1/projects', { project_slug });
    expect(codeOf(again)).toBe('409 project_exists');
    const { organization_id: id } = organization;
    const more = { project_slug: newSlug(), organization_id: id };
    expect((await staff('POST', '/v1/projects', more)).status).toBe(201);
    api.change({ plans: { trial } });
    expect((await create()).status).toBe(201);
  });

  it('lets only staff name another organization, which must exist', async () => {
    const body = { project_slug: newSlug(), organization_id };
    const refused = await owner('POST', '/v1/projects', body);
    expect(codeOf(refused)).toBe('403 staff_only_field');
    expect(refused.body.error.details).toEqual({ fields: ['organization_id'] });
    for (const wrong of [null, 5]) {
      const answer = await owner('POST', '/v1/projects', { ...body, organization_id: wrong });
      expect(codeOf(answer), String(wrong)).toBe('403 staff_only_field');
    }
    const made = await staff('POST', '/v1/projects', body);
    expect([made.status, made.body.organization_id]).toEqual([201, organization_id]);
    expect((await owner('GET', `/v1/projects/${body.project_slug}`)).status).toBe(200);
    for (const unknown of [`org_${'0'.repeat(26)}`, 'x', 'a\u0000b', '']) {
      const sent = { project_slug: newSlug(), organization_id: unknown };
      const answer = await staff('POST', '/v1/projects', sent);
      expect(codeOf(answer)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual(['organization_id']);
    }
  });
});

describe('GET /v1/projects/{slug}', () => {
  it('returns the project to a session and to a key', async () => {
    const project = await createProject(owner);
    const path = `/v1/projects/${project.project_slug}`;
    const secret = await createKey(owner, project.project_slug, ['files:read']);
    expect((await owner('GET', path)).body).toEqual(project);
    expect((await api.withKey(secret)('GET', path)).body).toEqual(project);
  });

  it('returns 404 not_found to staff for another organization’s project', async () => {
    const { project_slug } = await createProject(owner);
    expect(codeOf(await staff('GET', `/v1/projects/${project_slug}`))).toBe('404 not_found');
  });
});

describe('GET /v1/projects', () => {
  it('lists only the organization’s own projects, newest first', async () => {
    const call = api.session(newSubject());
    expect((await call('GET', '/v1/projects')).body).toEqual({ items: [], next_cursor: null });
    const made = [];
    for (let n = 0; n < 3; n += 1) made.push(await createProject(call));
    const { body } = await call('GET', '/v1/projects');
    expect(body).toEqual({ items: made.toReversed(), next_cursor: null });
    for (const item of body.items) expectRecord(projectRecord, item);
  });
});
