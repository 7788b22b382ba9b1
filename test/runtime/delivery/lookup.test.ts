import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rotateSigningKey } from '../../../runtime/actions/rotate-signing-key.ts';
import { LOOKUP_CACHE_SECONDS_MAX } from '../../../runtime/core/limits.ts';
import type { Database, Queryable } from '../../../runtime/db/client.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { createLookup } from '../../../runtime/delivery/lookup.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createSealing } from '../../../runtime/platform/sealing.ts';
import { signingKeyContext } from '../../../runtime/platform/sealing-contexts.ts';
import { useDatabase } from '../../support/database.ts';
import {
  change,
  makeKey,
  publishImage,
  type StoredImage,
  signed,
  type TestKey,
} from '../../support/delivered.ts';
import { type DeliveryHost, sealing, startDeliveryHost } from '../../support/delivery-host.ts';
import { over, quarters } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let image: StoredImage;
let project: ProjectRow;
let key: TestKey;
/** Lookups only, since the meter may write at any time. */
const asked: ('project' | 'file')[] = [];
/** Lookups that must wait for a second to pass: it passes immediately unless `areHeld`. */
const pauses: { ms: number; end(): void }[] = [];
let areHeld = false;
const pauseEnds = async () => {
  await expect.poll(() => pauses.length).toBe(1);
  const [pause = expect.fail('nobody waits')] = pauses.splice(0);
  pause.end();
  return pause.ms;
};
const timesAsked = () => asked.filter((table) => table === 'project').length;
const counted: Queryable = {
  query: (text, values) => {
    if (text.includes('from projects p')) asked.push('project');
    else if (text.includes('from files f')) asked.push('file');
    return db.query(text, values);
  },
};
const PATH = '/originals/f/cat';
/** Expiry is judged by the database's clock, which is that of this machine. */
const seconds = () => Math.floor(Date.now() / 1000);

const wait = async (ms: number) => {
  if (areHeld) await new Promise<void>((end) => void pauses.push({ ms, end }));
  host.clock.advance(ms / 1000);
};

beforeAll(async () => {
  host = await startDeliveryHost({ db: counted, wall_clock_ms: 0, wait });
  const bytes = await over(quarters(16, 16)).png().toBuffer();
  image = { bytes, width: 16, height: 16, content_type: 'image/png' };
});
afterAll(() => host.close());
beforeEach(async () => {
  project = await protectedProject(db);
  key = await makeKey(db, project);
  asked.length = 0;
  pauses.length = 0;
  areHeld = false;
});

async function protectedProject(of: Database): Promise<ProjectRow> {
  const made = await makeProject(of, { delivery_access: 'protected' });
  await publishImage({ db: of, content: host.content }, made, { image, file_slug: 'cat' });
  return made;
}

const get = (path: string, headers = {}) => host.get(project.project_slug, path, { headers });
const codeOf = async (path: string) => (await get(path)).code ?? 'served';

describe('a signed URL', () => {
  it('grants access to a protected project until it expires, and is cached no longer', async () => {
    const exp = seconds() + 100;
    const answer = await get(signed(PATH, { project, key, exp }));
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toMatch(
      /^public, max-age=0, must-revalidate, s-maxage=(9\d|100)$/,
    );
  });

  it('is refused from the second of its exp on, even if the viewer has the image', async () => {
    const url = signed(PATH, { project, key, exp: seconds() + 10 });
    const { headers } = await get(url);
    const condition = { 'if-none-match': String(headers.etag) };
    expect((await get(url, condition)).status).toBe(304);
    host.clock.advance(10);
    expect(await codeOf(url)).toBe('signature_expired');
    expect((await get(url, condition)).status).toBe(403);
  });

  it.each([-120, 120])('expires on time even if the server’s clock is %i s off', async (wrong) => {
    host.clock.advance(wrong);
    const url = signed(PATH, { project, key, exp: seconds() + 20 });
    const { headers } = await get(url);
    expect(headers['cache-control']).toMatch(/s-maxage=(1\d|20)$/);
    host.clock.advance(20);
    expect(await codeOf(url)).toBe('signature_expired');
    host.clock.advance(-wrong);
  });

  it('is valid for its own path only, and rejected if its exp or signature was altered', async () => {
    const exp = seconds() + 100;
    const url = signed(PATH, { project, key, exp });
    const sig = url.split('sig=')[1] ?? '';
    const altered = [
      url.replace(PATH, '/resize/2x2/f/cat'),
      url.replace(`exp=${exp}`, `exp=${exp + 1}`),
      url.replace(sig, `${sig[0] === 'a' ? 'b' : 'a'}${sig.slice(1)}`),
      url.replace(sig, sig.slice(0, -1)),
      url.replace(sig, `${sig}A`),
      url.replace(sig, `${sig.slice(0, -1)}${sig.endsWith('A') ? 'B' : 'A'}`),
    ];
    for (const each of altered) expect(await codeOf(each)).toBe('invalid_signature');
    expect(await codeOf(url)).toBe('served');
  });

  it('is never valid with any character inserted, removed or replaced', async () => {
    const url = signed('/resize/2x2/f/cat', { project, key, exp: seconds() + 100 });
    const letter = fc.constantFrom(...'aA0/.%&=?;,-_:+~');
    const edit = fc.tuple(fc.nat(url.length - 1), letter, fc.constantFrom('in', 'out', 'other'));
    await fc.assert(
      fc.asyncProperty(edit, async ([at, by, how]) => {
        const rest = url.slice(at + (how === 'in' ? 0 : 1));
        const edited = url.slice(0, at) + (how === 'out' ? '' : by) + rest;
        fc.pre(edited !== url && edited.startsWith('/'));
        const { status, headers } = await get(edited, { 'if-none-match': '*' });
        expect([403, 404], edited).toContain(status);
        expect(headers['cache-control']).toBe('no-store');
      }),
      { numRuns: 150 },
    );
  });

  it('is rejected if it was made for another project or with another project’s key', async () => {
    const other = await protectedProject(db);
    const otherKey = await makeKey(db, other);
    const exp = seconds() + 100;
    expect(await codeOf(signed(PATH, { project: other, key: otherKey, exp }))).toBe('unknown_kid');
    expect(await codeOf(signed(PATH, { project: other, key, exp }))).toBe('invalid_signature');
  });

  it('must carry exactly exp, kid and sig, in this order', async () => {
    const url = signed(PATH, { project, key, exp: seconds() + 100 });
    expect(await codeOf(url)).toBe('served');
    const [path = '', query = ''] = url.split('?');
    const reordered = `${path}?${query.split('&').toReversed().join('&')}`;
    const capital = url.replace('exp=', 'Exp=');
    for (const wrong of [`${url}&v=1`, `${url}&exp=1`, capital, `${url}&`, reordered]) {
      expect(await codeOf(wrong)).toBe('not_found');
    }
  });

  it('may use a chain outside the allowed list of a public project', async () => {
    await change(db, project, {
      delivery_access: 'public',
      allowed_transform_chains: ['resize/9x9'],
    });
    const path = '/resize/8x8/f/cat';
    const condition = { 'if-none-match': '*' };
    expect((await get(path, condition)).code).toBe('transform_chain_not_allowed');
    const url = signed(path, { project, key, exp: seconds() + 100 });
    expect((await get(url, condition)).status).toBe(304);
    expect((await get('/resize/9x9/fill/f/cat', condition)).status).toBe(304);
    expect((await get(PATH)).status).toBe(200);
  });
});

describe('a signing key', () => {
  it('verifies as soon as it was created', async () => {
    expect(await codeOf(PATH)).toBe('signature_required');
    const fresh = await makeKey(db, project, { overlap_seconds: 3600 });
    const exp = seconds() + 100;
    expect(await codeOf(signed(PATH, { project, key: fresh, exp }))).toBe('served');
    expect(await codeOf(signed(PATH, { project, key, exp }))).toBe('served');
  });

  it('is looked up at most once a second while unknown, however many requests use it', async () => {
    const find = await startLookup();
    const found = Promise.all(Array.from({ length: 20 }, () => find('kid_nobody')));
    expect(await pauseEnds()).toBe(1000);
    expect(new Set(await found)).toEqual(new Set([undefined]));
    expect(timesAsked()).toBe(2);
    expect(pauses).toEqual([]);
    host.clock.advance(1);
    expect(await find('kid_nobody')).toBeUndefined();
    expect(timesAsked()).toBe(3);
  });

  it('is looked up once, without a wait, when many concurrent requests use a new one', async () => {
    await get(PATH);
    const fresh = await makeKey(db, project, { overlap_seconds: 3600 });
    asked.length = 0;
    areHeld = true;
    const url = signed(PATH, { project, key: fresh, exp: seconds() + 1000 });
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(url)));
    expect(new Set(codes)).toEqual(new Set(['served']));
    expect(timesAsked()).toBe(1);
    expect(pauses).toEqual([]);
  });

  it('verifies on its first request even if others are sending unknown keys', async () => {
    const find = await startLookup();
    expect(await find('kid_nobody')).toBeUndefined();
    host.clock.advance(0.3);
    const fresh = await makeKey(db, project, { overlap_seconds: 3600 });
    asked.length = 0;
    const found = Promise.all([find(fresh.kid), find('kid_nobody')]);
    expect(await pauseEnds()).toBe(700);
    expect(await found).toEqual([fresh.secret, undefined]);
    expect(timesAsked()).toBe(1);
  });

  it('verifies for 24 hours after its rotation by the database clock, to the second', async () => {
    await rotateByAction();
    const url = signed(PATH, { project, key, exp: seconds() + 100_000 });
    await passAtDatabase(24 * 3600 - 1);
    expect(await codeOf(url)).toBe('served');
    await passAtDatabase(2);
    expect(await codeOf(url)).toBe('unknown_kid');
  });

  it('is retired on time, to the second, even while its lookup is cached', async () => {
    await rotateByAction();
    await passAtDatabase(24 * 3600 - 10);
    const url = signed(PATH, { project, key, exp: seconds() + 100_000 });
    expect(await codeOf(url)).toBe('served');
    host.clock.advance(8.5);
    expect(await codeOf(url)).toBe('served');
    host.clock.advance(1.5);
    expect(await codeOf(url)).toBe('unknown_kid');
  });

  it.each([-3600, 3600])(
    'is retired on time even if the server’s clock is %i s off',
    async (wrong) => {
      host.clock.advance(wrong);
      await rotateByAction();
      const url = signed(PATH, { project, key, exp: seconds() + 100_000 });
      await passAtDatabase(24 * 3600 - 5);
      expect(await codeOf(url)).toBe('served');
      await passAtDatabase(10);
      expect(await codeOf(url)).toBe('unknown_kid');
    },
  );

  it('still verifies for its full day if it is rotated three times within a day', async () => {
    const keys = [key];
    for (let count = 0; count < 3; count += 1) {
      keys.push(await makeKey(db, project, { overlap_seconds: 24 * 3600 }));
      await passAtDatabase(3600);
    }
    const exp = seconds() + 100_000;
    for (const each of keys) {
      expect(await codeOf(signed(PATH, { project, key: each, exp }))).toBe('served');
    }
    await passAtDatabase(21 * 3600 + 1);
    const codes = [];
    for (const each of keys) codes.push(await codeOf(signed(PATH, { project, key: each, exp })));
    expect(codes).toEqual(['unknown_kid', 'served', 'served', 'served']);
  });

  it('fails only the URLs signed with it if its secret cannot be unsealed', async () => {
    await change(db, project, { delivery_access: 'public' });
    await db.query("update signing_keys set secret_sealed = '\\x00' where kid = $1", [key.kid]);
    const answer = await get(signed(PATH, { project, key, exp: seconds() + 100 }));
    expect([answer.status, answer.code]).toEqual([500, 'internal']);
    expect(await codeOf(PATH)).toBe('served');
  });

  it.each([
    ['is not configured', 'gone'],
    ['is another one under the same id', 'test'],
  ])('is answered with 503 busy if the key that it was sealed under %s', async (_, kek) => {
    await db.query('update signing_keys set secret_sealed = $2 where kid = $1', [
      key.kid,
      createSealing([{ id: kek, key: Buffer.alloc(32, 9) }]).seal(
        key.secret,
        signingKeyContext(key.kid),
      ),
    ]);
    const answer = await get(signed(PATH, { project, key, exp: seconds() + 100 }));
    expect([answer.status, answer.code]).toEqual([503, 'busy']);
  });
});

/** A lookup that knows the project already, and whose waits are held. */
async function startLookup() {
  const lookup = createLookup({
    db: counted,
    clock: host.clock,
    sealing,
    rootDomain: 'localhost',
    wait,
  });
  const name = `${project.project_slug}.localhost`;
  await lookup.findProject(name);
  asked.length = 0;
  areHeld = true;
  return (kid: string) => lookup.findSecret(name, kid);
}

/** Rotates the key as staff and owners do. */
const rotateByAction = () => {
  const deps = { sealing, clock: systemClock };
  return db.transaction((tx) => rotateSigningKey(tx, deps, { project_id: project.project_id }));
};

/** Ages the project's keys in the database, and expires cached lookups. */
async function passAtDatabase(passed: number): Promise<void> {
  await db.query(
    `update signing_keys set retire_after = retire_after - make_interval(secs => $2),
       created_at = created_at - make_interval(secs => $2)
     where project_id = $1`,
    [project.project_id, passed],
  );
  host.clock.advance(LOOKUP_CACHE_SECONDS_MAX);
}

describe('lookups of projects and files', () => {
  it('are at most 30 seconds old, for existing and missing files alike', async () => {
    await change(db, project, { delivery_access: 'public' });
    expect((await get(PATH)).status).toBe(200);
    expect((await get('/originals/f/late')).status).toBe(404);
    await db.query(
      `update files set status = 'blocked', blocked_by = 'staff', blocked_at = now(), block_count = 1
       where project_id = $1`,
      [project.project_id],
    );
    await publishImage({ db, content: host.content }, project, { image, file_slug: 'late' });
    host.clock.advance(29.9);
    expect((await get(PATH)).status).toBe(200);
    expect((await get('/originals/f/late')).status).toBe(404);
    host.clock.advance(0.1);
    expect(await codeOf(PATH)).toBe('file_blocked');
    expect((await get('/originals/f/late')).status).toBe(200);
  });

  it('are at most one second old if configured so', async () => {
    const deps = { db, clock: host.clock, sealing, rootDomain: 'localhost' };
    const { findProject } = createLookup({ ...deps, fresh_seconds: 1 });
    const accessNow = async () =>
      (await findProject(`${project.project_slug}.localhost`))?.delivery_access;
    await change(db, project, { delivery_access: 'protected' });
    expect(await accessNow()).toBe('protected');
    await change(db, project, { delivery_access: 'public' });
    host.clock.advance(0.9);
    expect(await accessNow()).toBe('protected');
    host.clock.advance(0.1);
    expect(await accessNow()).toBe('public');
  });

  it('also remember that a host has no project', async () => {
    const slug = `late-${project.project_slug}`;
    expect((await host.get(slug, PATH)).status).toBe(404);
    const late = await makeProject(db, { project_slug: slug });
    await publishImage({ db, content: host.content }, late, { image, file_slug: 'cat' });
    expect((await host.get(slug, PATH)).status).toBe(404);
    host.clock.advance(30);
    expect((await host.get(slug, PATH)).status).toBe(200);
  });

  it('query the database once for many concurrent requests', async () => {
    await change(db, project, { delivery_access: 'public' });
    await Promise.all(Array.from({ length: 30 }, () => get(PATH)));
    expect(asked).toEqual(['project', 'file']);
  });

  it('unseal the secret of a key once for all requests', async () => {
    const opened: string[] = [];
    const open = (sealed: Uint8Array, context: string) => {
      opened.push(context);
      return sealing.open(sealed, context);
    };
    const counting = { ...sealing, open };
    const lookup = createLookup({
      db,
      clock: host.clock,
      sealing: counting,
      rootDomain: 'localhost',
    });
    const find = () => lookup.findSecret(`${project.project_slug}.localhost`, key.kid);
    const secret = await find();
    expect(secret).toEqual(key.secret);
    expect(await find()).toBe(secret);
    expect(opened).toEqual([`signing-key:${key.kid}`]);
  });

  it('parse the list of allowed chains once for all requests, and again after 30 seconds', async () => {
    await change(db, project, { allowed_transform_chains: ['format/webp/resize/8x'] });
    const lookup = createLookup({ db, clock: host.clock, sealing, rootDomain: 'localhost' });
    const listOf = async () =>
      (await lookup.findProject(`${project.project_slug}.localhost`))?.allowed_chains;
    const list = await listOf();
    expect(list).toEqual(new Set(['resize/8x/format/webp']));
    expect(await listOf()).toBe(list);
    await change(db, project, { allowed_transform_chains: [] });
    host.clock.advance(LOOKUP_CACHE_SECONDS_MAX);
    expect(await listOf()).toBeNull();
  });
});
