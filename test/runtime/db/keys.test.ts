import { describe, expect, it } from 'vitest';
import {
  findApiKey,
  findApiKeyByHash,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  updateApiKeyLastUsed,
} from '../../../runtime/db/api-keys.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import {
  findActiveSigningKey,
  insertSigningKey,
  listSigningKeys,
  rotateSigningKey,
  updateSigningKeyOwner,
} from '../../../runtime/db/signing-keys.ts';
import { useDatabase } from '../../support/database.ts';
import { id, makeProject, must, randomHash } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 20, connectTimeoutMs: 30_000 });

const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const secret = () => ({ secret_sha256: randomHash(), prefix: 'tin_live_ab', last_four: 'cdef' });
const makeKey = ({ project_id }: ProjectRow) =>
  db.transaction((tx) =>
    insertApiKey(tx, {
      key_id: id('key'),
      project_id,
      name: 'CI',
      scopes: ['files:read'],
      ...secret(),
    }),
  );

describe('API keys', () => {
  it('are limited to 100 active ones per project, even if created concurrently', async () => {
    const project = await makeProject(db);
    const made = await Promise.all(times(120).map(() => makeKey(project)));
    expect(made.filter((key) => key !== undefined)).toHaveLength(100);
    const { project_id } = project;
    await revokeApiKey(db, { project_id, key_id: must(made.find(Boolean)).key_id });
    expect(await makeKey(project)).toBeDefined();
    expect(await makeKey(project)).toBeUndefined();
    expect(await listApiKeys(db, project_id)).toHaveLength(101);
  });

  it('are rotated exactly once by concurrent callers, to one active key with the same name and scopes', async () => {
    const project = await makeProject(db);
    const { project_id } = project;
    const old = must(await makeKey(project));
    const rotated = await Promise.all(
      times(10).map(() =>
        db.transaction((tx) =>
          rotateApiKey(tx, {
            project_id,
            old_key_id: old.key_id,
            new_key_id: id('key'),
            ...secret(),
          }),
        ),
      ),
    );
    const [next, ...others] = rotated.filter((key) => key !== undefined);
    expect(others).toEqual([]);
    expect(next).toMatchObject({ name: 'CI', scopes: ['files:read'], status: 'active' });
    const valid = (await listApiKeys(db, project_id)).filter(({ status }) => status === 'active');
    expect(valid.map(({ key_id }) => key_id)).toEqual([next?.key_id]);
    expect((await findApiKey(db, { project_id, key_id: old.key_id }))?.status).toBe('revoked');
  });

  it('cannot be rotated through another project', async () => {
    const key = must(await makeKey(await makeProject(db)));
    const { project_id } = await makeProject(db);
    const rotation = { project_id, old_key_id: key.key_id, new_key_id: id('key'), ...secret() };
    expect(await db.transaction((tx) => rotateApiKey(tx, rotation))).toBeUndefined();
    expect((await findApiKey(db, key))?.status).toBe('active');
  });

  it('are found by their secret, with their project, until they are revoked', async () => {
    const project = await makeProject(db);
    const { project_id } = project;
    const key = must(await makeKey(project));
    expect(await findApiKeyByHash(db, key.secret_sha256)).toMatchObject({
      key_id: key.key_id,
      project,
    });
    const revoked = await revokeApiKey(db, key);
    expect(await revokeApiKey(db, key)).toEqual(revoked);
    expect(await findApiKeyByHash(db, key.secret_sha256)).toBeUndefined();
    const foreign = await makeProject(db);
    expect(
      await revokeApiKey(db, { project_id: foreign.project_id, key_id: key.key_id }),
    ).toBeUndefined();
    expect(await findApiKey(db, { project_id, key_id: 'key_none' })).toBeUndefined();
  });

  it('record their use at most once a minute', async () => {
    const key = must(await makeKey(await makeProject(db)));
    const lastUsed = async () => (await findApiKey(db, key))?.last_used_at;
    expect(await lastUsed()).toBeNull();
    await updateApiKeyLastUsed(db, key.key_id);
    const first = must((await lastUsed()) ?? undefined);
    await updateApiKeyLastUsed(db, key.key_id);
    expect(await lastUsed()).toEqual(first);
  });
});

describe('signing keys', () => {
  const newKey = (project_id: string) => ({
    kid: id('kid'),
    project_id,
    secret_sealed: Buffer.from('sealed'),
  });

  it('have one active after concurrent rotations, while every earlier one still verifies', async () => {
    const { project_id } = await makeProject(db);
    await insertSigningKey(db, newKey(project_id));
    await Promise.all(
      times(50).map(() =>
        db.transaction((tx) =>
          rotateSigningKey(tx, { ...newKey(project_id), overlap_seconds: 3600 }),
        ),
      ),
    );
    const keys = await listSigningKeys(db, project_id);
    expect(keys).toHaveLength(51);
    expect(keys.filter((key) => key.status === 'active')).toHaveLength(1);
    expect(keys.every((key) => key.is_verifying)).toBe(true);
    const active = must(await findActiveSigningKey(db, project_id));
    expect(active.retire_after).toBeNull();
  });

  it('stop verifying when their overlap ends', async () => {
    const { project_id } = await makeProject(db);
    const first = await insertSigningKey(db, newKey(project_id));
    await db.transaction((tx) =>
      rotateSigningKey(tx, { ...newKey(project_id), overlap_seconds: 0 }),
    );
    const old = (await listSigningKeys(db, project_id)).find((key) => key.kid === first.kid);
    expect(old).toMatchObject({ status: 'retired', is_verifying: false });
  });

  it('store the resource that declares them', async () => {
    const { project_id } = await makeProject(db);
    const { kid } = await insertSigningKey(db, newKey(project_id));
    const owner = { owner_uid: 'uid-1', owner_namespace: 'shop', owner_name: 'key' };
    const owned = await updateSigningKeyOwner(db, { kid, owner, rotation_trigger: '1' });
    expect(owned).toMatchObject({ ...owner, rotation_trigger: '1' });
    const free = await updateSigningKeyOwner(db, { kid, owner: null, rotation_trigger: null });
    expect(free).toMatchObject({ owner_uid: null, owner_name: null });
  });
});
