// Deliveries that neither the disk nor the database accepted are reported as lost, once each. Spec: Metering.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Queryable } from '../../../runtime/db/client.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { type Meter, startMeter } from '../../../runtime/delivery/meter.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { useDatabase } from '../../support/database.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let folder: string;
let spool: string;
let project: ProjectRow;
let meter: Meter;
let lost: number;
let isAway: boolean;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-spool-'));
  spool = join(folder, 'spool');
  project = await makeProject(db);
  lost = 0;
  isAway = false;
  const reached: Queryable = {
    query: (text, values) => (isAway ? Promise.reject(new Error('away')) : db.query(text, values)),
  };
  meter = startMeter(spool, {
    db: reached,
    clock: createManualClock(),
    log: createLog({ level: 'silent', name: 'test' }),
    metrics: {
      usageUnspooled: () => undefined,
      usageLost: () => {
        lost += 1;
      },
    },
  });
});
afterEach(async () => {
  await meter.stop();
  rmSync(folder, { recursive: true });
});

const deliver = (project_id = project.project_id) =>
  meter.record({ at: Date.now(), project_id, bytes: 10, kind: 'derived', is_watermarked: false });

/** Loses a delivery: the disk does not accept it, and the database rejects it for good. */
function lose(): void {
  const elsewhere = join(folder, 'elsewhere');
  renameSync(spool, elsewhere);
  writeFileSync(spool, 'a file where the folder was');
  deliver('prj_nobody');
  rmSync(spool);
  renameSync(elsewhere, spool);
}

/** The number of lost deliveries that each batch of the project reports, in order. */
async function reportedLosses(): Promise<number[]> {
  const rows = await db.query<{ lost_deliveries: number }>(
    `select lost_deliveries from usage_batches where batch_id in
       (select batch_id from usage_batch_rows where project_id = $1) order by sequence`,
    [project.project_id],
  );
  return rows.map((row) => row.lost_deliveries);
}

it('deliveries lost between a batch and its resend are reported by the next batch', async () => {
  lose();
  lose();
  await meter.flush();
  isAway = true;
  deliver();
  await meter.flush();
  lose();
  isAway = false;
  await meter.flush();
  expect([lost, await reportedLosses()]).toEqual([3, [2]]);
  deliver();
  await meter.flush();
  deliver();
  await meter.flush();
  expect(await reportedLosses()).toEqual([2, 1, 0]);
});
