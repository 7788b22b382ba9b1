// What a process says at its start about secrets that its keys do not open.
import { expect, it } from 'vitest';
import { tellUnreadableSecrets } from '../../../runtime/actions/unreadable-secrets.ts';
import { createDatabase } from '../../../runtime/db/client.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createSealing } from '../../../runtime/platform/sealing.ts';
import { createTestDatabase, useDatabase } from '../../support/database.ts';
import { makeSecrets } from '../../support/sealed-secrets.ts';
import { newSealingKey, readSealingKeys } from '../../support/sealing-keys.ts';

const { db } = useDatabase();
const [k1, k2, otherK1] = [newSealingKey('k1'), newSealingKey('k2'), newSealingKey('k1')];

async function told(keys: string, of = db): Promise<string[]> {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const log = createLog({ level: 'info', name: 'test', destination });
  await tellUnreadableSecrets(of, { keys: readSealingKeys(keys), log });
  return lines.map((line) => {
    const { level, key_id, msg, advice } = JSON.parse(line);
    expect([level, key_id ?? 'none', advice ?? msg]).not.toContain('');
    return `${level} ${key_id}: ${msg}`;
  });
}

it('a start names keys that the database needs and that are missing, or are others', async () => {
  expect(await told(k2)).toEqual([]);
  await makeSecrets(db, createSealing(readSealingKeys(k1)));
  await makeSecrets(db, createSealing(readSealingKeys(k2)));
  expect(await told(`${k2},${k1}`)).toEqual([]);
  expect(await told(k2)).toEqual([
    'error k1: secrets in the database are encrypted with a key that is missing',
  ]);
  expect(await told(`${k2},${otherK1}`)).toEqual([
    'error k1: secrets in the database do not open with their key',
  ]);
});

it('a start goes on without a database, and says nothing of one that is not migrated yet', async () => {
  const gone = createDatabase({ url: 'postgres://127.0.0.1:1/none' });
  expect(await told(k1, gone)).toEqual([expect.stringMatching(/^warn .*was not checked$/)]);
  const empty = await createTestDatabase('template0');
  const fresh = createDatabase({ url: empty.url });
  expect(await told(k1, fresh)).toEqual([]);
  await Promise.all([gone.close(), fresh.close()]);
  await empty.drop();
});
