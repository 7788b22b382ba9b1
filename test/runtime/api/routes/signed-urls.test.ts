// Spec: Signing keys and signed URLs (POST …/signed-url); Versioning (deprecated aliases); Rates.
import { beforeAll, describe, expect, it } from 'vitest';
import { parseDeliveryUrl } from '../../../../runtime/core/delivery/url.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { signedUrlRecord } from '../../../../runtime/core/resources/signing-key.ts';
import { verifyDeliveryUrl } from '../../../../runtime/core/signing/delivery-url.ts';
import { updateFileBlocked } from '../../../../runtime/db/files.ts';
import { createSealing } from '../../../../runtime/platform/sealing.ts';
import { signingKeyContext } from '../../../../runtime/platform/sealing-contexts.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { makeFile } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const file_slug = 'photo.jpg';
let project: ProjectRecord;
let call: Caller;

beforeAll(async () => {
  project = await projectWithFile({ resolution_presets: { thumb: 'resize/200x200' } });
  call = api.withKey(await createKey(owner, project.project_slug, ['urls:sign']));
});

async function projectWithFile(settings: Record<string, unknown>): Promise<ProjectRecord> {
  const made = await createProject(owner, settings);
  await makeFile(api.db, made, { file_slug });
  return made;
}

/** Resets the rate limit before each call, so that only the tests of the limit reach it. */
async function mint(body: unknown, of: { project?: ProjectRecord; call?: Caller } = {}) {
  await api.db.query('delete from rate_windows');
  const { project_slug } = of.project ?? project;
  return (of.call ?? owner)('POST', `/v1/projects/${project_slug}/signed-url`, body);
}

describe('POST …/signed-url', () => {
  it('returns a URL that verifies with the project’s key for 300 seconds', async () => {
    const answer = await mint({ file_slug, transform_chain: 'resize/640x480' }, { call });
    expect(answer.status).toBe(200);
    expectRecord(signedUrlRecord, answer.body);
    const url = new URL(answer.body.url);
    expect(url.origin).toBe(`https://${project.project_slug}.images.test`);
    expect(url.pathname).toBe('/resize/640x480/f/photo.jpg');
    const { path, signature } = parseDeliveryUrl(url.pathname + url.search) ?? {};
    const [key] = await api.db.query<{ kid: string; secret_sealed: Buffer }>(
      'select * from signing_keys where project_id = $1',
      [project.project_id],
    );
    expect([signature?.kid, answer.body.kid]).toEqual([key?.kid, key?.kid]);
    const { exp = 0, sig = '', kid = '' } = signature ?? {};
    const sealed = key?.secret_sealed ?? Buffer.alloc(0);
    const secret = api.deps().sealing.open(sealed, signingKeyContext(kid));
    const { project_id } = project;
    const now_seconds = Math.floor(Date.now() / 1000);
    const signed = { secret, project_id, kid, exp, path: path ?? '', sig, now_seconds };
    expect(verifyDeliveryUrl(signed)).toBe('valid');
    expect(answer.body.expires_at).toBe(new Date(exp * 1000).toISOString());
    expect(exp - now_seconds).toBeGreaterThan(290);
    expect(exp - now_seconds).toBeLessThanOrEqual(300);
  });

  it('sets the expiry by the database’s clock, even if the process clock is wrong', async () => {
    const { clock } = api.deps();
    for (const wrong of [-120_000, 120_000]) {
      api.change({ clock: { now: () => new Date(Date.now() + wrong) } });
      const { body } = await mint(
        { file_slug, kind: 'originals', expires_in_seconds: 60 },
        { call },
      );
      const seconds = (Date.parse(body.expires_at) - Date.now()) / 1000;
      expect(Math.abs(seconds - 60)).toBeLessThan(20);
    }
    api.change({ clock });
  });

  it.each([
    ['not configured', 'k9', "sealed under the key 'k1'"],
    ['another one under the same id', 'k1', "the key 'k1' of TINTYPE_KEY_ENCRYPTION_KEYS does not"],
  ])('returns 503 if the key of the signing key is %s, and logs which', async (_, kek, says) => {
    api.change({ sealing: createSealing([{ id: kek, key: Buffer.alloc(32, 9) }]) });
    const answer = await mint({ file_slug }, { call });
    expect(codeOf(answer)).toBe('503 storage_unavailable');
    expect(answer.body.error.message).toContain('A stored secret cannot be read');
    expect(JSON.stringify(api.logged())).toContain(says);
  });

  it('resolves kind, chain and their deprecated aliases', async () => {
    const raw = await projectWithFile({});
    await owner('PATCH', `/v1/projects/${raw.project_slug}`, { raw_download_enabled: true });
    const rows: [object, string][] = [
      [{}, '/originals/f/photo.jpg'],
      [{ kind: 'originals' }, '/originals/f/photo.jpg'],
      [{ transform_chain: null, kind: 'originals' }, '/originals/f/photo.jpg'],
      [{ transform_chain: 'originals' }, '/originals/f/photo.jpg'],
      [{ transform_chain: 'originals', kind: 'originals' }, '/originals/f/photo.jpg'],
      [{ kind: 'raw' }, '/download/raw/f/photo.jpg'],
      [{ transform_chain: 'download/raw' }, '/download/raw/f/photo.jpg'],
      [{ transform_chain: 'format/webp', kind: 'derived' }, '/format/webp/f/photo.jpg'],
      [{ file_slug: 'PHOTO.jpg' }, '/originals/f/photo.jpg'],
    ];
    for (const [body, path] of rows) {
      const answer = await mint({ file_slug, ...body }, { project: raw });
      expect(answer.status, answer.text).toBe(200);
      expect(new URL(answer.body.url).pathname).toBe(path);
    }
  });

  it('accepts a lifetime of 60 to 3600 seconds', async () => {
    const secondsOf = async (expires_in_seconds: unknown) => {
      const { body } = await mint({ file_slug, expires_in_seconds });
      return Math.ceil((Date.parse(body.expires_at) - Date.now()) / 1000);
    };
    expect(await secondsOf(60)).toBeOneOf([59, 60]);
    expect(await secondsOf(3600)).toBeOneOf([3599, 3600]);
    expect(await secondsOf(null)).toBeOneOf([299, 300]);
    for (const wrong of [59, 3601, 60.5, '60']) {
      const answer = await mint({ file_slug, expires_in_seconds: wrong });
      expect(issuesOf(answer)).toEqual(['expires_in_seconds']);
    }
  });

  it('rejects contradictory fields, and unknown presets, chains and fields', async () => {
    const wrong: [object, string][] = [
      [{}, 'file_slug'],
      [{ file_slug: '-x' }, 'file_slug'],
      [{ file_slug, kind: 'derived' }, 'kind'],
      [{ file_slug, kind: 'raw', transform_chain: 'format/webp' }, 'kind'],
      [{ file_slug, kind: 'raw', transform_chain: 'originals' }, 'kind'],
      [{ file_slug, kind: null }, 'kind'],
      [{ file_slug, transform_chain: 'nonsense' }, 'transform_chain'],
      [{ file_slug, transform_chain: 'preset:unknown' }, 'transform_chain'],
      [{ file_slug, transform_chain: 'preset:thumb/resize/1x1' }, 'transform_chain'],
      [{ file_slug, path: '/x' }, 'path'],
    ];
    for (const [body, field] of wrong) {
      const answer = await mint(body);
      expect(codeOf(answer), JSON.stringify(body)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual([field]);
    }
  });

  it('signs only allowed chains on a public project, in any spelling, and any chain on a protected one', async () => {
    const list = { allowed_transform_chains: ['format/webp/resize/640x480'] };
    const open = await projectWithFile(list);
    const codes = async (of: ProjectRecord) => {
      const chains = [
        'format/webp/resize/640x480',
        'resize/640x480/fill/format/webp',
        'format/webp',
        null,
      ];
      const answers = [];
      for (const transform_chain of chains)
        answers.push(await mint({ file_slug, transform_chain }, { project: of }));
      return answers.map(codeOf);
    };
    expect(await codes(open)).toEqual(['200', '200', '400 transform_chain_not_allowed', '200']);
    const shut = await projectWithFile({ ...list, delivery_access: 'protected' });
    expect(await codes(shut)).toEqual(['200', '200', '200', '200']);
  });

  it('returns 403 raw_download_disabled while raw downloads are disabled', async () => {
    expect(codeOf(await mint({ file_slug, kind: 'raw' }))).toBe('403 raw_download_disabled');
  });

  it('signs only for a ready file', async () => {
    expect(codeOf(await mint({ file_slug: 'missing' }))).toBe('404 file_not_found');
    const { file_id } = await makeFile(api.db, project, { file_slug: 'blocked.png' });
    await api.db.transaction((tx) =>
      updateFileBlocked(tx, { file_id, blocked_by: 'staff', reason: 'x' }),
    );
    expect(codeOf(await mint({ file_slug: 'blocked.png' }))).toBe('409 file_not_ready');
    await makeFile(api.db, project, { file_slug: 'deleted.png' });
    await owner('DELETE', `/v1/projects/${project.project_slug}/files/deleted.png`);
    expect(codeOf(await mint({ file_slug: 'deleted.png' }))).toBe('404 file_not_found');
  });

  it('returns 409 signing_key_missing without an active key, and does not count towards the limit', async () => {
    const keyless = await projectWithFile({});
    await api.db.query(
      `update signing_keys set status = 'retired', retire_after = now() where project_id = $1`,
      [keyless.project_id],
    );
    expect(codeOf(await mint({ file_slug }, { project: keyless }))).toBe('409 signing_key_missing');
    expect(await api.db.query('select 1 from rate_windows')).toEqual([]);
  });

  it('is audited with its caller, file and request', async () => {
    const audited = () =>
      api.db.query(
        `select * from audit_log where action = 'signed_url.mint' order by audit_id desc limit 1`,
      );
    const answer = await mint({ file_slug, transform_chain: 'format/webp' }, { call });
    expect(await audited()).toEqual([
      expect.objectContaining({
        project_id: project.project_id,
        actor_kind: 'key',
        target: file_slug,
        request_id: answer.headers['x-request-id'],
        after: {
          kind: 'derived',
          transform_chain: 'format/webp',
          expires_at: answer.body.expires_at,
        },
      }),
    ]);
    await mint({ file_slug });
    expect(await audited()).toEqual([expect.objectContaining({ actor_kind: 'user' })]);
  });
});

describe('the limit of 60 signed URLs per minute', () => {
  it('applies to the project across all callers, and is answered with Retry-After', async () => {
    const busy = await projectWithFile({});
    await api.db.query(
      `insert into rate_windows (scope, subject, window_start, count)
       select 'signed-url', $1, date_trunc('minute', now()) + make_interval(mins => n), 59
       from generate_series(0, 1) n`,
      [busy.project_id],
    );
    const path = `/v1/projects/${busy.project_slug}/signed-url`;
    const withKey = api.withKey(await createKey(owner, busy.project_slug));
    expect(codeOf(await owner('POST', path, { file_slug: 'missing' }))).toBe('404 file_not_found');
    expect((await owner('POST', path, { file_slug })).status).toBe(200);
    for (const each of [owner, withKey]) {
      const answer = await each('POST', path, { file_slug });
      expect(codeOf(answer)).toBe('429 rate_limited');
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    const other = await owner('POST', `/v1/projects/${project.project_slug}/signed-url`, {
      file_slug,
    });
    expect(other.status).toBe(200);
  });
});
