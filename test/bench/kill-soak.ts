/**
 * `node test/bench/kill-soak.ts [family,…]`: kills a worker at every step of ingest, for all or the named types of
 * images, on both storages. Prints a table of the kills, and every violated promise.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../../runtime/db/client.ts';
import { migrate } from '../../runtime/db/migrate.ts';
import { startPostgres } from '../../runtime/standalone/postgres.ts';
import { familyPictures } from '../fault/support/families.ts';
import { brokenAfter, killAt, surveySteps, takeOver } from '../fault/support/ingest-kills.ts';
import { makeStorage, STORAGE_KINDS, type StorageKind } from '../fault/support/storages.ts';

const named = process.argv[2]?.split(',');
const pictures = await familyPictures();
const chosen = pictures.filter(({ family }) => named?.includes(family) ?? true);
const folder = mkdtempSync(join(tmpdir(), 'tintype-soak-'));
const postgres = await startPostgres({
  folder,
  settings: { max_connections: '400', fsync: 'off' },
});
await migrate(postgres.url);
const db = createDatabase({ url: postgres.url });
const broken: string[] = [];
let kills = 0;
try {
  for (const kind of STORAGE_KINDS) await killEverywhere(kind);
} finally {
  await db.close();
  await postgres.stop();
  rmSync(folder, { recursive: true });
}
process.stdout.write(`${kills} kills, ${broken.length} broken promises\n`);
process.exitCode = broken.length === 0 ? 0 : 1;

/** Empties the database first, because every row must have its object in the current storage. */
async function killEverywhere(kind: StorageKind): Promise<void> {
  await db.query('truncate organizations cascade');
  await db.query('truncate doomed_objects, sweep_positions');
  const storage = await makeStorage(kind);
  const place = { db, url: postgres.url, storage };
  try {
    for (const picture of chosen) {
      const points = await surveySteps(place, [picture]);
      const killed = await killAt(place, points);
      await takeOver(place);
      const found = await brokenAfter(place, killed);
      kills += killed.length;
      broken.push(...found);
      const line = `${kind.padEnd(8)}${picture.family.padEnd(10)}${killed.length} kills, ${found.length} broken`;
      process.stdout.write(`${[line, ...found].join('\n')}\n`);
    }
  } finally {
    await storage.remove();
  }
}
