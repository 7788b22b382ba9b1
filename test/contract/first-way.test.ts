// A user's first steps from an empty folder, with only the specification: start, session, project, key, upload, every
// transform, a protected project, usage and its charge.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph, quarters } from '../support/pictures.ts';
import {
  type Answer,
  anonymous,
  type Caller,
  deliver,
  put,
  targetOf,
  withKey,
  withSession,
} from './support/client.ts';
import { removeFolder, runTintype, startTintype, type Tintype } from './support/tintype.ts';
import { identify, pixelsAt } from './support/tools.ts';
import { upload, waitUntilEnded } from './support/upload.ts';

const MIB = 1_048_576;
const TRIAL_CREDITS = 1000;

let tintype: Tintype;
let alice: Caller;
let server: Caller;
let photo: Buffer;
/** The cost of all successful deliveries, as the viewer counts it. */
const counted: Record<string, { requests: number; bytes: number; credits: number }> = {};

async function view(project: string, path: string, more: { method?: string; etag?: string } = {}) {
  const { method = 'GET', etag } = more;
  const headers: Record<string, string> = etag === undefined ? {} : { 'if-none-match': etag };
  const answer = await deliver(tintype, { project, path, method, headers });
  if (answer.status < 400) count(project, answer);
  return answer;
}

function count(project: string, { bytes }: Answer): void {
  const sum = counted[project] ?? { requests: 0, bytes: 0, credits: 0 };
  counted[project] = {
    requests: sum.requests + 1,
    bytes: sum.bytes + bytes.length,
    credits: sum.credits + Math.max(1, Math.ceil(bytes.length / MIB)),
  };
}

async function newProject(slug: string, settings: object): Promise<Caller> {
  const created = await alice('POST', '/v1/projects', { project_slug: slug, ...settings });
  expect(created.status).toBe(201);
  const key = await alice('POST', `/v1/projects/${slug}/keys`, { name: 'server' });
  expect(key.status).toBe(201);
  return withKey(tintype, key.body.plaintext_secret);
}

beforeAll(async () => {
  tintype = await startTintype();
  alice = await withSession(tintype, 'alice');
  photo = await over(photograph(1200, 800)).jpeg({ quality: 92 }).toBuffer();
  const vault = await newProject('vault', { delivery_access: 'protected' });
  await upload(vault, 'vault', {
    bytes: photo,
    content_type: 'image/jpeg',
    file_slug: 'photo.jpg',
  });
});

afterAll(async () => {
  await tintype?.end('SIGTERM');
  await removeFolder(tintype.data);
});

describe('the path from a new account to charged usage', { shuffle: false }, () => {
  describe('an account, a project and its key', () => {
    it('a new user has an organization with trial credits', async () => {
      const { status, body } = await alice('GET', '/v1/me');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        user: { subject: 'alice' },
        organization: { credit_balance: TRIAL_CREDITS, quota_exceeded_at: null },
        role: 'owner',
        staff: false,
      });
    });

    it('a project of another organization returns 404 not_found', async () => {
      const { status, body } = await alice('GET', `/v1/projects/${tintype.instance.project_slug}`);
      expect([status, body.error.code]).toEqual([404, 'not_found']);
    });

    it('a new project has its own delivery host and an active signing key', async () => {
      server = await newProject('holiday', {
        name: 'Holiday',
        resolution_presets: { thumb: 'resize/200x200/smart', small: 'resize/100x' },
      });
      const { body } = await alice('GET', '/v1/projects/holiday');
      expect(body).toMatchObject({
        name: 'Holiday',
        delivery_access: 'public',
        default_delivery_host: `holiday.${tintype.instance.delivery_root_domain}`,
        status: 'active',
        file_count: 0,
        storage_bytes: 0,
      });
      expect(body.active_signing_kid).toEqual(expect.any(String));
    });

    it('GET /v1/key returns the key and its project without the secret', async () => {
      const { status, headers, body } = await server('GET', '/v1/key');
      expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
      expect(body).toMatchObject({ name: 'server', project_slug: 'holiday', status: 'active' });
      expect(JSON.stringify(body)).not.toContain('plaintext_secret');
    });
  });

  describe('an upload', () => {
    it('is accepted by storage only with the returned headers, and becomes a file', async () => {
      const declared = {
        content_type: 'image/jpeg',
        size_bytes: photo.length,
        file_slug: 'Photo.JPG',
      };
      const created = await server('POST', '/v1/projects/holiday/uploads', declared);
      expect(created.body).toMatchObject({ status: 'created', mode: 'direct', error_code: null });
      expect(
        Object.keys(created.body).filter((name) => /direct|multipart|proxy/.test(name)),
      ).toEqual(['direct']);
      const { put_url, headers } = created.body.direct;
      expect((await put(put_url, { ...headers, 'content-type': 'image/png' }, photo)).status).toBe(
        403,
      );
      expect((await put(put_url, headers, photo)).status).toBe(200);
      const path = `/v1/projects/holiday/uploads/${created.body.upload_id}`;
      const completed = await server('POST', `${path}/complete`);
      expect(completed.status).toBe(200);
      const session = await waitUntilEnded(server, 'holiday', created.body.upload_id);
      expect(session).toMatchObject({ status: 'ready', file_slug: 'photo.jpg', revision: 1 });
    });

    it('is shown as a file with its dimensions, and counted in the project', async () => {
      const { status, body } = await server('GET', '/v1/projects/holiday/files/photo.jpg');
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: 'ready', revision: 1, width: 1200, height: 800 });
      expect(targetOf(body.url)).toBe('/originals/f/photo.jpg');
      const listed = await server('GET', '/v1/projects/holiday/files');
      expect(listed.body).toEqual({ items: [body], next_cursor: null });
      const project = await alice('GET', '/v1/projects/holiday');
      expect(project.body).toMatchObject({ file_count: 1, storage_bytes: body.size_bytes });
      const uploads = await server('GET', '/v1/projects/holiday/uploads?status=ready');
      expect(uploads.body.items).toHaveLength(1);
    });

    it('to an existing slug creates a new revision of the same file', async () => {
      const before = await server('GET', '/v1/projects/holiday/files/photo.jpg');
      await upload(server, 'holiday', {
        bytes: photo,
        content_type: 'image/jpeg',
        file_slug: 'photo.jpg',
      });
      const { body } = await server('GET', '/v1/projects/holiday/files/photo.jpg');
      expect(body).toMatchObject({ revision: 2, file_id: before.body.file_id });
    });
  });

  // Spec: Transform operations, Output rules. The photograph is 1200×800.
  const renditions: [string, string, number, number][] = [
    ['originals', 'JPEG', 1200, 800],
    ['resize/640x480', 'JPEG', 640, 480],
    ['resize/640x480/fill', 'JPEG', 640, 480],
    ['resize/640x480/crop', 'JPEG', 640, 480],
    ['resize/640x480/smart', 'JPEG', 640, 480],
    ['resize/640x480/fit', 'JPEG', 640, 427],
    ['resize/640x480/fit/smart', 'JPEG', 640, 480],
    ['resize/640x480/fit/fill', 'JPEG', 640, 480],
    ['resize/300x', 'JPEG', 300, 200],
    ['resize/x300', 'JPEG', 450, 300],
    ['resize/1x1', 'JPEG', 1, 1],
    ['resize/2400x', 'JPEG', 2400, 1600],
    ['crop/10,20,300,200', 'JPEG', 300, 200],
    ['crop/1100,700,400,400', 'JPEG', 100, 100],
    ['crop/0,0,400,400/resize/200x100', 'JPEG', 200, 100],
    ['resize/200x100/crop/0,0,400,400', 'JPEG', 200, 100],
    ['format/jpeg', 'JPEG', 1200, 800],
    ['format/jpg', 'JPEG', 1200, 800],
    ['format/png', 'PNG', 1200, 800],
    ['format/webp', 'WEBP', 1200, 800],
    ['format/avif/resize/400x', 'AVIF', 400, 267],
    ['quality/1', 'JPEG', 1200, 800],
    ['quality/70/resize/640x/format/webp', 'WEBP', 640, 427],
    ['format/png/quality/100', 'PNG', 1200, 800],
    ['watermark/resize/50x', 'JPEG', 50, 33],
    ['watermark:wm_00000000000000000000000000/resize/50x', 'JPEG', 50, 33],
    ['preset:thumb', 'JPEG', 200, 200],
    ['preset:thumb/format/png', 'PNG', 200, 200],
    ['preset:small', 'JPEG', 100, 67],
  ];

  const absent = [
    'resize/0x10',
    'resize/8193x10',
    'resize/x',
    'resize/8000x8000',
    'resize/10x10/resize/20x20',
    'preset:thumb/resize/10x10',
    'preset:nobody',
    'preset:thumb/preset:small',
    'crop/5000,5000,10,10',
    'crop/1,1,0,10',
    'format/bmp',
    'quality/0',
    'quality/101',
    'quality/050',
    'rotate/90',
    'Resize/10x10',
    '',
  ];

  describe('a derived image', () => {
    it.each(renditions)('/%s is a %s of %i×%i', async (chain, format, width, height) => {
      const { status, bytes, headers } = await view('holiday', `/${chain}/f/photo.jpg`);
      expect(status).toBe(200);
      expect(await identify(bytes)).toEqual({ format, width, height });
      expect(headers).toMatchObject({
        'content-type': `image/${format.toLowerCase()}`,
        'content-length': String(bytes.length),
        'cache-control': 'public, max-age=300, s-maxage=31536000',
        'x-service-revision': '2',
        etag: expect.stringMatching(/^"[^"]+"$/),
        'x-request-id': expect.any(String),
      });
    });

    it.each(absent)('/%s returns 404 not_found', async (chain) => {
      const { status, body, headers } = await view('holiday', `/${chain}/f/photo.jpg`);
      expect([status, body.error.code]).toEqual([404, 'not_found']);
      expect(headers['cache-control']).toBe('no-store');
    });

    it.each(['/photo.jpg', '/originals/photo.jpg', '/originals/f/photo.jpg/', '/f/photo.jpg', '/'])(
      'returns 404 for the malformed path %s',
      async (path) => {
        expect((await view('holiday', path)).status).toBe(404);
      },
    );

    it('returns 404 for an unsigned URL with a query', async () => {
      expect((await view('holiday', '/originals/f/photo.jpg?v=2')).status).toBe(404);
    });

    it('shows the part that crop names', async () => {
      const bytes = await over(quarters(400, 400)).png().toBuffer();
      await upload(server, 'holiday', {
        bytes,
        content_type: 'image/png',
        file_slug: 'quarters.png',
      });
      const parts = [
        ['0,0', [255, 0, 0]],
        ['200,0', [0, 255, 0]],
        ['0,200', [0, 0, 255]],
        ['200,200', [255, 255, 255]],
      ] as const;
      for (const [at, color] of parts) {
        const { bytes } = await view('holiday', `/crop/${at},200,200/f/quarters.png`);
        expect(await pixelsAt(bytes, [[100, 100]])).toEqual([color]);
      }
    });

    it('is smaller at lower quality', async () => {
      const [low, high] = await Promise.all(
        ['quality/20', 'quality/90'].map((chain) => view('holiday', `/${chain}/f/photo.jpg`)),
      );
      expect(low?.bytes.length).toBeLessThan((high?.bytes.length ?? 0) / 2);
    });

    it('is identical for equivalent transform chains', async () => {
      const [one, other] = await Promise.all(
        ['resize/300x/format/jpg', 'format/jpeg/resize/300x/fill'].map((chain) =>
          view('holiday', `/${chain}/f/photo.jpg`),
        ),
      );
      expect(one?.bytes.equals(other?.bytes ?? Buffer.alloc(0))).toBe(true);
      expect(one?.headers.etag).toBe(other?.headers.etag);
    });

    it('returns 304 without a body for a matching ETag', async () => {
      const first = await view('holiday', '/resize/640x480/f/photo.jpg');
      const etag = first.headers.etag ?? '';
      const second = await view('holiday', '/resize/640x480/f/photo.jpg', { etag });
      expect([second.status, second.bytes.length, second.headers.etag]).toEqual([304, 0, etag]);
      const changed = await view('holiday', '/resize/640x480/f/photo.jpg', { etag: '"other"' });
      expect(changed.status).toBe(200);
    });

    it('answers HEAD with the headers of GET and no body', async () => {
      const path = '/resize/640x480/f/photo.jpg';
      const [get, head] = [await view('holiday', path), await view('holiday', path, HEAD)];
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
      for (const name of ['content-type', 'content-length', 'etag', 'cache-control']) {
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
      }
    });

    it('allows cross-origin requests from any origin', async () => {
      const { status, headers } = await deliver(tintype, {
        project: 'holiday',
        path: '/originals/f/photo.jpg',
        method: 'OPTIONS',
        headers: { origin: 'https://shop.example' },
      });
      expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
      expect(headers['x-request-id']).toEqual(expect.any(String));
    });
  });

  const HEAD = { method: 'HEAD' };

  describe('a protected project', () => {
    const path = '/resize/320x/f/photo.jpg';
    let signed = '';

    it('returns 403 signature_required without a signature', async () => {
      for (const each of [path, '/originals/f/photo.jpg']) {
        const { status, body } = await view('vault', each);
        expect([each, status, body.error.code]).toEqual([each, 403, 'signature_required']);
      }
    });

    it('delivers an image at its signed URL', async () => {
      const { status, body } = await alice('POST', '/v1/projects/vault/signed-url', {
        file_slug: 'photo.jpg',
        transform_chain: 'resize/320x',
      });
      expect(status).toBe(200);
      signed = targetOf(body.url);
      expect(signed).toMatch(new RegExp(`^${path}\\?exp=\\d+&kid=${body.kid}&sig=[\\w-]+$`));
      const image = await view('vault', signed);
      expect(await identify(image.bytes)).toEqual({ format: 'JPEG', width: 320, height: 213 });
      expect(image.headers['cache-control']).toMatch(
        /^public, max-age=0, must-revalidate, s-maxage=\d{1,3}$/,
      );
    });

    it('rejects a signed URL that is altered or used for another project', async () => {
      const last = signed.at(-5) === 'A' ? 'B' : 'A';
      const altered = {
        path: signed.replace('320x', '640x'),
        expiry: signed.replace(/exp=(\d+)/, (_, exp) => `exp=${Number(exp) + 1}`),
        signature: `${signed.slice(0, -5)}${last}${signed.slice(-4)}`,
      };
      for (const [what, target] of Object.entries(altered)) {
        const { status, body } = await view('vault', target);
        expect([what, status, body.error.code]).toEqual([what, 403, 'invalid_signature']);
      }
      const other = await view('vault', signed.replace(/kid=\w+/, 'kid=sk_unknown'));
      expect([other.status, other.body.error.code]).toEqual([403, 'unknown_kid']);
      expect((await view('vault', `${signed}&v=2`)).status).toBe(404);
      expect((await view('holiday', signed)).status).toBe(403);
    });
  });

  describe('usage', () => {
    it('equals the requests, bytes and credits that viewers counted', async () => {
      const expected = counted.holiday;
      const usage = await usageOnce('holiday', expected?.requests ?? 0);
      const hours: Record<string, number>[] = usage.hourly;
      const sum = (name: string) => hours.reduce((total, hour) => total + (hour[name] ?? 0), 0);
      expect({
        requests: sum('requests'),
        bytes: sum('bytes'),
        credits: sum('credits'),
      }).toEqual(expected);
      expect(usage.storage.file_count).toBe(2);
      expect(usage.credit_balance).toBe(TRIAL_CREDITS);
    });

    it('is charged once, by exactly the credits that were counted', async () => {
      await usageOnce('vault', counted.vault?.requests ?? 0);
      const nextDay = new Date(Date.now() + 86_400_000).toISOString();
      for (const _ of ['charged', 'charged again']) {
        expect(await job('daily-charge', '--at', nextDay)).toContain(nextDay);
      }
      const credits = (counted.holiday?.credits ?? 0) + (counted.vault?.credits ?? 0);
      const { body } = await alice('GET', '/v1/me');
      expect(body.organization.credit_balance).toBe(TRIAL_CREDITS - credits);
      const { body: usage } = await server('GET', '/v1/projects/holiday/usage');
      const charged = usage.daily.map((day: { charged_credits: number }) => day.charged_credits);
      expect(charged.reduce((sum: number, each: number) => sum + each, 0)).toBe(
        counted.holiday?.credits,
      );
    });

    it('returns 404 to other users, and 401 without a credential', async () => {
      const bob = await withSession(tintype, 'bob');
      const refused = await bob('GET', '/v1/projects/holiday/usage');
      expect([refused.status, refused.body.error.code]).toEqual([404, 'not_found']);
      expect((await anonymous(tintype)('GET', '/v1/projects/holiday/usage')).status).toBe(401);
    });
  });

  /**
   * Deliveries are spooled and sent in batches every second. Runs the rollup until it contains all
   * of them.
   */
  async function usageOnce(project: string, requests: number) {
    for (let tries = 0; ; tries += 1) {
      await job('hourly-rollup');
      const { body } = await alice('GET', `/v1/projects/${project}/usage`);
      const hours: { requests: number }[] = body.hourly;
      const seen = hours.reduce((sum, hour) => sum + hour.requests, 0);
      if (seen >= requests || tries === 10) return body;
      await sleep(500);
    }
  }

  /** Runs a job and returns its output. */
  async function job(name: string, ...flags: string[]): Promise<string> {
    const { code, stdout } = await runTintype(['job', name, '--data', tintype.data, ...flags]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${name} as of `)]);
    return stdout;
  }
});
