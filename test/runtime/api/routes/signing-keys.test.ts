// Spec: Signing keys and signed URLs (GET, rotate); Signing key.

import { beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../runtime/core/durations.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import {
  type SigningKeyRecord,
  signingKeyRecord,
} from '../../../../runtime/core/resources/signing-key.ts';
import { insertSigningKey } from '../../../../runtime/db/signing-keys.ts';
import { codeOf, createProject, expectRecord, newSubject } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { untilWaiting } from '../../../support/lock-waits.ts';
import { waitPatiently } from '../../../support/patient-database.ts';
import { id, makeFile } from '../../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: ProjectRecord;
let path: string;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}`;
});

const rotate = () => owner('POST', `${path}/signing-keys/rotate`);
const list = async (): Promise<SigningKeyRecord[]> =>
  (await owner('GET', `${path}/signing-keys`)).body.items;
const databaseTime = async () => {
  const [row] = await api.db.query<{ now: Date }>('select clock_timestamp() as now');
  return row?.now.getTime() ?? 0;
};
const together = <T>(count: number, work: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, work));

describe('GET …/signing-keys', () => {
  it('returns the first key of a new project, without its secret', async () => {
    const { status, body } = await owner('GET', `${path}/signing-keys`);
    expect(status).toBe(200);
    expect(body.next_cursor).toBeNull();
    expect(body.items).toMatchObject([
      { kid: project.active_signing_kid, status: 'active', retire_after: null },
    ]);
    for (const item of body.items) expectRecord(signingKeyRecord, item);
  });

  it('is bounded and newest first, with the active key at the front', async () => {
    await api.db.query(
      `insert into signing_keys (kid, project_id, secret_sealed, status, retire_after, created_at)
       select 'kid_' || substr(md5($1 || n), 1, 26), $1, '\\x00', 'retired', now(), now() - make_interval(mins => n)
       from generate_series(1, 1100) n`,
      [project.project_id],
    );
    const items = await list();
    expect(items).toHaveLength(1000);
    expect(items[0]).toMatchObject({ kid: project.active_signing_kid, status: 'active' });
    const times = items.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
  });
});

describe('POST …/signing-keys/rotate', () => {
  it('activates a new key; the previous one verifies for 24 hours by the database’s clock', async () => {
    const before = await databaseTime();
    const { status, body } = await rotate();
    const after = await databaseTime();
    expect(status).toBe(200);
    expectRecord(signingKeyRecord, body);
    expect(body).toMatchObject({ status: 'active', retire_after: null });
    expect((await owner('GET', path)).body.active_signing_kid).toBe(body.kid);
    const [newest, previous, ...more] = await list();
    expect([newest, more]).toEqual([body, []]);
    expect(previous).toMatchObject({ kid: project.active_signing_kid, status: 'retired' });
    const ends = Date.parse(previous?.retire_after ?? '');
    expect(ends).toBeGreaterThanOrEqual(Math.floor(before) + DAY_MS);
    expect(ends).toBeLessThanOrEqual(after + DAY_MS);
  });

  it('counts the 24 hours from when it gets the lock, not from when it began to wait for it', async () => {
    waitPatiently(api);
    let waiting: Promise<unknown> = Promise.resolve();
    let released = 0;
    await api.db.transaction(async (tx) => {
      await tx.query('select from projects where project_id = $1 for update', [project.project_id]);
      waiting = rotate();
      await untilWaiting(api.db, 1);
      released = await databaseTime();
    });
    await waiting;
    const [, previous] = await list();
    expect(Date.parse(previous?.retire_after ?? '')).toBeGreaterThanOrEqual(
      Math.floor(released) + DAY_MS,
    );
  });

  it('keeps exactly one key active after 50 concurrent rotations, ordered by their turn', async () => {
    waitPatiently(api);
    const answers = await together(50, rotate);
    expect(answers.map(codeOf)).toEqual(answers.map(() => '200'));
    const keys = await list();
    expect(keys).toHaveLength(51);
    const [newest, ...retired] = keys;
    expect(newest?.status).toBe('active');
    expect(retired.every(({ status, retire_after }) => status === 'retired' && retire_after)).toBe(
      true,
    );
    expect(new Set(answers.map(({ body }) => body.kid)).size).toBe(50);
    expect((await owner('GET', path)).body.active_signing_kid).toBe(newest?.kid);
    const times = keys.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('keeps the keys of URLs that are signed concurrently', async () => {
    waitPatiently(api);
    await makeFile(api.db, project, { file_slug: 'a.png' });
    const mint = () => owner('POST', `${path}/signed-url`, { file_slug: 'a.png' });
    const [minted] = await Promise.all([together(20, mint), together(10, rotate)]);
    expect(minted.map(codeOf)).toEqual(minted.map(() => '200'));
    const verifying = (await list()).filter(
      ({ retire_after }) => retire_after === null || Date.parse(retire_after) > Date.now(),
    );
    const kids = verifying.map(({ kid }) => kid);
    for (const { body } of minted) expect(kids).toContain(body.kid);
  });

  it('creates a key if there is none, so that signing works again', async () => {
    await makeFile(api.db, project, { file_slug: 'a.png' });
    await api.db.query(
      `update signing_keys set status = 'retired', retire_after = now() where project_id = $1`,
      [project.project_id],
    );
    const mint = () => owner('POST', `${path}/signed-url`, { file_slug: 'a.png' });
    expect(codeOf(await mint())).toBe('409 signing_key_missing');
    const { kid } = (await rotate()).body;
    expect((await mint()).body.kid).toBe(kid);
  });

  it('returns 429 with Retry-After while 1000 keys verify, until they retire', async () => {
    waitPatiently(api);
    await api.db.query(
      `insert into signing_keys (kid, project_id, secret_sealed, status, retire_after)
       select 'kid_' || substr(md5($1 || n), 1, 26), $1, '\\x00', 'retired', now() + make_interval(secs => 100 + n)
       from generate_series(1, 998) n`,
      [project.project_id],
    );
    const codes = (await together(10, rotate)).map(codeOf).toSorted();
    expect(codes).toEqual(['200', ...Array(9).fill('429 rate_limited')]);
    const seconds = Number((await rotate()).headers['retry-after']);
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(101);
    await api.db.query(
      `update signing_keys set retire_after = now() where project_id = $1 and status = 'retired'`,
      [project.project_id],
    );
    expect(codeOf(await rotate())).toBe('200');
  });

  it('passes the owning resource of a declared key on to the new one', async () => {
    const owned = { owner_uid: 'uid-1', owner_namespace: 'shop', owner_name: 'key' };
    const bare = await createProject(owner);
    await api.db.query('delete from signing_keys where project_id = $1', [bare.project_id]);
    const kid = id('kid');
    await api.db.transaction((tx) =>
      insertSigningKey(tx, {
        kid,
        project_id: bare.project_id,
        secret_sealed: Buffer.from('x'),
        owner: owned,
        rotation_trigger: '2026-11',
      }),
    );
    const made = await owner('POST', `/v1/projects/${bare.project_slug}/signing-keys/rotate`);
    const [row] = await api.db.query(
      'select owner_uid, owner_namespace, owner_name, rotation_trigger from signing_keys where kid = $1',
      [made.body.kid],
    );
    expect(row).toEqual({ ...owned, rotation_trigger: '2026-11' });
  });

  it('is audited with the previous and the new kid', async () => {
    const answer = await rotate();
    const [entry, ...more] = await api.db.query(
      `select * from audit_log where project_id = $1 and action = 'signing_key.rotate'`,
      [project.project_id],
    );
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      actor_kind: 'user',
      actor_id: subject,
      target: answer.body.kid,
      before: { active_signing_kid: project.active_signing_kid },
      after: { active_signing_kid: answer.body.kid },
      request_id: answer.headers['x-request-id'],
    });
  });
});
