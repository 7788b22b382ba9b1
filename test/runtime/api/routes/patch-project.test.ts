// Spec: Projects (PATCH); Project; Project (status); Caching (what purges).
import { beforeEach, describe, expect, it } from 'vitest';
import { type ProjectRecord, projectRecord } from '../../../../runtime/core/resources/project.ts';
import {
  codeOf,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { id, makeFile } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
let project: ProjectRecord;

beforeEach(async () => {
  project = await createProject(owner);
});

const patch = (body: unknown, call = owner) =>
  call('PATCH', `/v1/projects/${project.project_slug}`, body);

/** What purged the project's cached images: its purge rows, and its generation (initially 1). */
async function cacheState() {
  const { project_id } = project;
  const purges = await api.db.query<{ file_slug: string | null; delay: number }>(
    `select file_slug, extract(epoch from run_after - created_at)::integer as delay
     from purges where project_id = $1 order by run_after`,
    [project_id],
  );
  const [row] = await api.db.query<{ generation: number }>(
    'select generation from projects where project_id = $1',
    [project_id],
  );
  return { purges, generation: row?.generation };
}

async function makeWatermark(): Promise<string> {
  const { file_id } = await makeFile(api.db, project, {});
  const preset = id('wm');
  await api.db.query(
    `insert into watermark_presets (watermark_preset_id, project_id, name, file_id)
     values ($1, $2, 'logo', $3)`,
    [preset, project.project_id, file_id],
  );
  return preset;
}

describe('PATCH /v1/projects/{slug}', () => {
  it('changes only the fields sent', async () => {
    const { status, body } = await patch({
      name: 'New',
      cors_allowed_origins: ['https://a.example'],
    });
    expect(status).toBe(200);
    expectRecord(projectRecord, body);
    expect(body).toEqual({
      ...project,
      name: 'New',
      cors_allowed_origins: ['https://a.example'],
      updated_at: body.updated_at,
    });
    expect((await owner('GET', `/v1/projects/${project.project_slug}`)).body).toEqual(body);
  });

  it('changes nothing for {}', async () => {
    expect((await patch({})).body).toEqual(project);
  });

  it('rejects unknown fields by name, even custom_domains and nudity_auto_block from staff', async () => {
    for (const field of [
      'colour',
      'custom_domains',
      'nudity_auto_block',
      'organization_id',
      'project_slug',
    ]) {
      for (const call of [owner, staff]) {
        const answer = await patch({ name: 'New', [field]: [] }, call);
        expect(codeOf(answer), field).toBe('400 invalid_request');
        expect(issuesOf(answer)).toEqual([field]);
      }
    }
    expect((await patch({})).body).toEqual(project);
  });

  it('names the path of every invalid preset, chain or setting', async () => {
    const many = (count: number, make: (n: number) => [string, string]) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => make(n)));
    const presets = (count: number) => many(count, (n) => [`p${n}`, 'format/webp']);
    const wrong: [object, string][] = [
      [{ resolution_presets: presets(33) }, 'resolution_presets'],
      [{ resolution_presets: { Thumb: 'format/webp' } }, 'resolution_presets.Thumb'],
      [{ resolution_presets: { thumb: 'preset:other' } }, 'resolution_presets.thumb'],
      [{ resolution_presets: { thumb: 'resize/8193x1' } }, 'resolution_presets.thumb'],
      [{ resolution_presets: null }, 'resolution_presets'],
      [{ allowed_transform_chains: ['format/gif'] }, 'allowed_transform_chains[0]'],
      [{ allowed_transform_chains: ['quality/80/quality/80'] }, 'allowed_transform_chains[0]'],
      [
        { allowed_transform_chains: Array.from({ length: 65 }, (_, n) => `quality/${n + 1}`) },
        'allowed_transform_chains',
      ],
      [{ delivery_access: 'Protected' }, 'delivery_access'],
      [{ raw_download_enabled: 'true' }, 'raw_download_enabled'],
      [{ name: 'a\u202Eb' }, 'name'],
      [{ name: 'x'.repeat(121) }, 'name'],
    ];
    for (const [body, path] of wrong) {
      const answer = await patch(body);
      expect(codeOf(answer), path).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual([path]);
    }
    const all = await patch({
      resolution_presets: { ...presets(29), Thumb: 'format/webp', b: 'format/gif', c: 'preset:b' },
      allowed_transform_chains: ['format/webp', 'format/gif', 'resize/0x0', 'a', 'quality/101'],
    });
    expect(issuesOf(all)).toEqual([
      'resolution_presets.Thumb',
      'resolution_presets.b',
      'resolution_presets.c',
      ...[1, 2, 3, 4].map((index) => `allowed_transform_chains[${index}]`),
    ]);
    const full = {
      resolution_presets: presets(32),
      allowed_transform_chains: Array.from({ length: 64 }, (_, n) => `quality/${n + 1}`),
    };
    expect((await patch(full)).body).toMatchObject(full);
  });

  it('names all wrong fields together, including those that need a lookup', async () => {
    const default_watermark_preset_id = id('wm');
    api.change({ settings: { callbackEgress: 'public' } });
    const callback_url = 'https://127.0.0.1/';
    const url = await patch({ callback_url, default_watermark_preset_id });
    expect(issuesOf(url)).toEqual(['callback_url', 'default_watermark_preset_id']);
    const secret = await patch({ rotate_callback_secret: true, default_watermark_preset_id });
    expect(issuesOf(secret)).toEqual(['default_watermark_preset_id', 'rotate_callback_secret']);
  });

  it('accepts a callback URL only at a port that the deployment allows', async () => {
    const at = async (port: string) => patch({ callback_url: `https://1.1.1.1${port}/hook` });
    for (const port of ['', ':443', ':8443']) expect((await at(port)).status).toBe(200);
    const { body } = await at(':6379');
    expect(body.error.details.issues).toEqual([
      { path: 'callback_url', message: 'expected port 443 or 8443' },
    ]);
    api.change({ settings: { callbackPorts: [6379] } });
    expect((await at(':6379')).status).toBe(200);
  });

  it('sets the project’s own preset as default watermark by either field name, and clears it', async () => {
    const preset = await makeWatermark();
    const shown = async (body: unknown) => (await patch(body)).body.default_watermark_preset_id;
    expect(await shown({ default_watermark_preset_id: preset })).toBe(preset);
    expect(await shown({ default_watermark_preset_id: null })).toBeNull();
    expect(await shown({ project_default_watermark: preset })).toBe(preset);
    expect(await shown({ project_default_watermark: '' })).toBeNull();
    expect(await shown({ project_default_watermark: preset })).toBe(preset);
    expect(await shown({ project_default_watermark: null })).toBeNull();
    const both = { project_default_watermark: '', default_watermark_preset_id: preset };
    expect(issuesOf(await patch(both))).toEqual(['project_default_watermark']);
    project = await createProject(owner);
    for (const foreign of [preset, id('wm'), '', 'a\u0000b']) {
      const answer = await patch({ default_watermark_preset_id: foreign });
      expect(codeOf(answer)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual(['default_watermark_preset_id']);
    }
  });
});

describe('the cached images of a project', () => {
  const twice = [
    { file_slug: null, delay: 0 },
    { file_slug: null, delay: 45 },
  ];

  it('are purged twice, immediately and later, by each setting that they depend on', async () => {
    const preset = await makeWatermark();
    const changes = [
      { delivery_access: 'protected' },
      { status: 'suspended' },
      { status: 'active' },
      { resolution_presets: { thumb: 'format/webp' } },
      { allowed_transform_chains: ['format/webp'] },
      { default_watermark_preset_id: preset },
      { raw_download_enabled: true },
    ];
    for (const [index, change] of changes.entries()) {
      expect((await patch(change)).status).toBe(200);
      const { purges, generation } = await cacheState();
      expect([purges.length, generation]).toEqual([2 * (index + 1), index + 2]);
    }
  });

  it('are purged as for one change when several settings change together', async () => {
    await patch({ delivery_access: 'protected', raw_download_enabled: true });
    expect(await cacheState()).toEqual({ purges: twice, generation: 2 });
  });

  it('are kept if other settings change or a setting is sent unchanged', async () => {
    await patch({ name: 'Other', cors_allowed_origins: ['*'] });
    await patch({ callback_url: 'https://1.1.1.1/hook' });
    await patch({ rotate_callback_secret: true });
    await patch({ storage_hard_limit_bytes: 1000, pricing_multiplier: 2 }, staff);
    await patch({
      delivery_access: 'public',
      status: 'active',
      resolution_presets: {},
      allowed_transform_chains: [],
      default_watermark_preset_id: null,
      raw_download_enabled: false,
    });
    expect(await cacheState()).toEqual({ purges: [], generation: 1 });
  });

  it('are kept if the change is rejected', async () => {
    const body = { delivery_access: 'protected', default_watermark_preset_id: id('wm') };
    expect((await patch(body)).status).toBe(400);
    expect(await cacheState()).toEqual({ purges: [], generation: 1 });
  });
});

describe('staff-only fields of a project', () => {
  it('return 403 staff_only_field to an owner, naming the fields, and change nothing', async () => {
    const sent = { name: 'New', storage_hard_limit_bytes: 5, pricing_multiplier: 1.5 };
    const answer = await patch(sent);
    expect(codeOf(answer)).toBe('403 staff_only_field');
    expect(answer.body.error.details.fields.toSorted()).toEqual([
      'pricing_multiplier',
      'storage_hard_limit_bytes',
    ]);
    for (const wrong of [5000, null, '1GB']) {
      const storage = await patch({ storage_hard_limit_bytes: wrong });
      expect(codeOf(storage), String(wrong)).toBe('403 staff_only_field');
      expect(codeOf(await patch({ pricing_multiplier: wrong }))).toBe('403 staff_only_field');
    }
    expect(issuesOf(await patch({ organization_id: null }))).toEqual(['organization_id']);
    expect((await patch({})).body).toEqual(project);
  });

  it('can be set by staff on any project; null restores the plan’s storage limit', async () => {
    const { body } = await patch({ storage_hard_limit_bytes: 5, pricing_multiplier: 1.5 }, staff);
    expectRecord(projectRecord, body);
    expect(body).toMatchObject({
      storage_hard_limit_bytes: 5,
      storage_limit_source: 'staff',
      pricing_multiplier: 1.5,
    });
    const { body: read } = await patch({});
    expect(read.pricing_multiplier).toBe(1.5);
    const { body: priced } = await patch({ pricing_multiplier: 2 }, staff);
    expect(Date.parse(priced.updated_at)).toBeGreaterThan(Date.parse(read.updated_at));
    const { body: same } = await patch({ pricing_multiplier: 2 }, staff);
    expect(same).toEqual(priced);
    const { body: back } = await patch({ storage_hard_limit_bytes: null }, staff);
    expect(back).toMatchObject({ storage_hard_limit_bytes: 2 ** 30, storage_limit_source: 'plan' });
    for (const wrong of [-1, 1.5, 'x']) {
      expect(issuesOf(await patch({ storage_hard_limit_bytes: wrong }, staff))).toHaveLength(1);
    }
    for (const wrong of [-1, 1001, 0.1234567, '1', null]) {
      expect(issuesOf(await patch({ pricing_multiplier: wrong }, staff))).toHaveLength(1);
    }
  });

  it.each([0, -2, 2])(
    'apply a new price from the next full hour by the database, with the process clock %i h ahead',
    async (hours) => {
      const own = createManualClock();
      own.advance(hours * 3600);
      api.change({ clock: own });
      await patch({ pricing_multiplier: 3 }, staff);
      const rows = await api.db.query(
        `select multiplier,
         effective_from > now() and effective_from <= now() + interval '1 hour' as is_next,
         effective_from = date_trunc('hour', effective_from) as is_full
       from project_pricing where project_id = $1`,
        [project.project_id],
      );
      expect(rows).toEqual([{ multiplier: '3.000000', is_next: true, is_full: true }]);
    },
  );
});
