// Spec: API key (last_used_at): written at most once a minute, however often a key is used.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../runtime/db/client.ts';
import { createKey, createProject, newSubject } from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';

const api = useApi();
const owner = api.session(newSubject());
let secret: string;

beforeEach(async () => {
  const { project_slug } = await createProject(owner);
  secret = await createKey(owner, project_slug);
});

/** Records all updates of API keys that the API sends to the database. */
function watchWrites(): string[] {
  const written: string[] = [];
  const db: Database = {
    ...api.db,
    query: (text, values) => {
      if (/^\s*update api_keys/.test(text)) written.push(text);
      return api.db.query(text, values);
    },
  };
  api.change({ db });
  return written;
}

const use = () => api.withKey(secret)('GET', '/v1/key');
const ago = (seconds: number) =>
  api.db.query('update api_keys set last_used_at = now() - make_interval(secs => $1)', [seconds]);

describe('last_used_at of an API key', () => {
  it('is written at most once a minute', async () => {
    const written = watchWrites();
    await use();
    for (let n = 0; n < 5; n += 1) expect((await use()).status).toBe(200);
    expect(written).toHaveLength(1);
    await ago(59);
    await use();
    expect(written).toHaveLength(1);
    await ago(61);
    const before = (await use()).body.last_used_at;
    expect(written).toHaveLength(2);
    const after = (await use()).body.last_used_at;
    expect(Date.parse(after)).toBeGreaterThan(Date.parse(before));
    expect(written).toHaveLength(2);
  });

  it('is written once by concurrent requests in the same minute', async () => {
    await api.db.query('create table uses (key_id text not null)');
    await api.db.query(`create function record_use() returns trigger language plpgsql as
      $$ begin insert into uses values (new.key_id); return null; end $$`);
    await api.db.query(`create trigger record_use after update of last_used_at on api_keys
      for each row execute function record_use()`);
    for (const _batch of [1, 2]) {
      await Promise.all(Array.from({ length: 20 }, use));
      expect(await api.db.query('select key_id from uses')).toHaveLength(1);
    }
  });

  it('does not fail the request if it cannot be written, which is logged as one warning', async () => {
    const db: Database = {
      ...api.db,
      query: (text, values) =>
        text.startsWith('update api_keys')
          ? Promise.reject(new Error('read only'))
          : api.db.query(text, values),
    };
    api.change({ db });
    expect((await use()).status).toBe(200);
    const warned = api.logged().filter(({ msg }) => msg === 'last use of a key not recorded');
    expect(warned).toHaveLength(1);
  });
});
