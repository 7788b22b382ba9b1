/**
 * The time that viewers are still served after the last credit is charged, and still rejected after credits are
 * granted.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { updateQuotaStatus } from '../../runtime/actions/update-quota-status.ts';
import { createDatabase, type Database, type Transaction } from '../../runtime/db/client.ts';
import { insertCreditGrant } from '../../runtime/db/credit-grants.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { deliver, withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { upload } from '../contract/support/upload.ts';
import { type Figure, figure } from './figure.ts';

const ROUNDS = 5;
const LOOK_MS = 50;
/** Delivery servers cache the quota for this long; changes occur at any point within this time. */
const REMEMBERED_MS = 30_000;

export async function measureQuota(tintype: Tintype): Promise<Figure[]> {
  const { api_key, project_slug, database_url: url } = tintype.instance;
  const create = { width: 32, height: 32, channels: 3, background: '#888' } as const;
  const bytes = await sharp({ create }).png().toBuffer();
  const picture = { bytes, content_type: 'image/png', file_slug: 'quota.png' };
  await upload(withKey(tintype, api_key), project_slug, picture);
  const db = createDatabase({ url, maxConnections: 2 });
  const organization_id = (await findProjectBySlug(db, project_slug))?.organization_id ?? '';
  const refused: number[] = [];
  const served: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(randomInt(REMEMBERED_MS / 3));
      await change(db, organization_id, (tx) => takeAll(tx, organization_id));
      refused.push(await secondsUntil(tintype, 403));
      await sleep(randomInt(REMEMBERED_MS / 3));
      const grant = { organization_id, credits: 1000, source: 'staff' as const };
      const external_id = `bench-${Date.now()}`;
      await change(db, organization_id, (tx) => insertCreditGrant(tx, { ...grant, external_id }));
      served.push(await secondsUntil(tintype, 200));
    }
  } finally {
    await db.close();
  }
  return [
    figure('zero balance → deliveries are refused', 's', refused),
    figure('credits granted → deliveries are served', 's', served),
  ];
}

function change(
  db: Database,
  organization_id: string,
  work: (tx: Transaction) => Promise<unknown>,
): Promise<unknown> {
  return db.transaction(async (tx) => {
    await work(tx);
    await updateQuotaStatus(tx, organization_id);
  });
}

function takeAll(tx: Transaction, organization_id: string): Promise<unknown> {
  return tx.query('update organizations set credit_balance = 0 where organization_id = $1', [
    organization_id,
  ]);
}

async function secondsUntil(tintype: Tintype, status: number): Promise<number> {
  const began = performance.now();
  const viewed = { project: tintype.instance.project_slug, path: '/originals/f/quota.png' };
  while ((await deliver(tintype, viewed)).status !== status) await sleep(LOOK_MS);
  return (performance.now() - began) / 1000;
}
