import { expect, it } from 'vitest';
import { createDatabase } from '../../../runtime/db/client.ts';
import { databaseChecks } from '../../../runtime/doctor/database-checks.ts';
import { runChecks } from '../../../runtime/doctor/run-checks.ts';
import type { Subject } from '../../../runtime/doctor/subject.ts';
import { parseConfig } from '../../../runtime/platform/config.ts';
import { createSealing } from '../../../runtime/platform/sealing.ts';
import { useDatabase } from '../../support/database.ts';
import { makeSecrets } from '../../support/sealed-secrets.ts';
import { newSealingKey, readSealingKeys } from '../../support/sealing-keys.ts';

const { url } = useDatabase();

async function diagnose(address: string, keys?: string) {
  const db = createDatabase({ url: address });
  const nothing = { storage: undefined, broker: undefined, jwksUrl: undefined, cors: 'check' };
  const reports = await runChecks(databaseChecks, {
    ...nothing,
    config: parseConfig({ TINTYPE_KEY_ENCRYPTION_KEYS: keys }),
    db,
  } as Subject);
  await db.close();
  return reports.map(({ outcome, says }) => [outcome, says.replace(/\d[\d.]*/, 'N')]);
}

it('the doctor finds nothing wrong with a primary database', async () => {
  expect(await diagnose(url())).toEqual([
    ['ok', 'PostgreSQL N'],
    ['ok', 'at this version'],
    ['ok', 'N ms apart'],
    ['ok', 'a temporary table'],
    ['skipped', 'TINTYPE_KEY_ENCRYPTION_KEYS is not set; API, delivery and dispatcher need it'],
  ]);
});

it('the doctor names the keys of the secrets in the database, and those that are missing or others', async () => {
  const [one, two, other] = [newSealingKey('one'), newSealingKey('two'), newSealingKey('one')];
  const secrets = async (keys: string) => (await diagnose(url(), keys)).at(-1);
  expect(await secrets(one)).toEqual(['ok', 'none']);
  const db = createDatabase({ url: url() });
  for (const key of [one, two]) await makeSecrets(db, createSealing(readSealingKeys(key)));
  await db.close();
  expect(await secrets(`${two},${one}`)).toEqual(['ok', "encrypted with 'one', 'two'"]);
  expect(await secrets(two)).toEqual(['wrong', "some are encrypted with 'one', not configured"]);
  expect(await secrets(`${two},${other}`)).toEqual(['wrong', "some do not open with 'one'"]);
});

it('the doctor reports a database that accepts no writes, as after a failover', async () => {
  const [first] = await diagnose(`${url()}?options=-c%20default_transaction_read_only%3Don`);
  expect(first).toEqual(['wrong', 'PostgreSQL N accepts no writes']);
});

it('the doctor notes that a newer version has migrated the database', async () => {
  const db = createDatabase({ url: url() });
  await db.query("insert into schema_migrations (name, run_on) values ('9999_later', now())");
  const [, migrated] = await diagnose(url());
  await db.query("delete from schema_migrations where name = '9999_later'");
  await db.close();
  expect(migrated).toEqual(['ok', 'of a newer version, whose N_later this one does not know']);
});
