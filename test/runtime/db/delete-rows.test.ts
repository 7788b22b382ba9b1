import { expect, it } from 'vitest';
import { deleteRows } from '../../../runtime/db/delete-rows.ts';
import { useDatabase } from '../../support/database.ts';

const { db } = useDatabase();

it('deleteRows deletes the matching rows in batches until none is left', async () => {
  await db.query(
    `insert into doomed_objects (bucket, object_key, delete_after)
     select 'content', n::text, now() + make_interval(hours => n) from generate_series(-4, 1) n`,
  );
  const value = new Date();
  const served = { table: 'doomed_objects', condition: 'delete_after <= $1', value };
  expect(await deleteRows(db, { ...served, rows_at_once: 2 })).toBe(5);
  expect(await db.query('select object_key from doomed_objects')).toEqual([{ object_key: '1' }]);
});
