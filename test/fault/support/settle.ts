/**
 * Lets the time pass that a killed process leaves behind (leases, the age from which the sweep looks, expiries) without
 * waiting for it, and runs the jobs that would have come by.
 */
import { expect } from 'vitest';
import type { Tintype } from '../../contract/support/tintype.ts';
import { type Books, untilEnded } from './client.ts';
import { type Mortal, withDatabase } from './mortal-tintype.ts';

/** Until no upload whose bytes were taken is under way any more. */
export async function settleUploads(mortal: Mortal, tintype: Tintype, books: Books): Promise<void> {
  await withDatabase(tintype, async (db) => {
    await db.query(`update uploads set lease_until = now() where status = 'processing'`);
    await db.query(`update uploads set created_at = created_at - interval '1 hour'`);
  });
  await runJob(mortal, ['upload-sweep']);
  for (const uploadId of books.stored) await untilEnded(tintype, uploadId);
}

/** A day later: sessions without bytes have expired, and what is of no use any more is deleted. */
export async function letADayPass(mortal: Mortal, tintype: Tintype): Promise<void> {
  await withDatabase(tintype, async (db) => {
    await db.query(`update uploads set expires_at = now() where status = 'created'`);
    await db.query(`update uploads set updated_at = updated_at - interval '1 day'`);
    await db.query(`update doomed_objects set delete_after = now()`);
  });
  await runJob(mortal, ['upload-sweep']);
  await runJob(mortal, ['upload-sweep']);
  await runJob(mortal, ['retention']);
}

/** Sums the hours and charges the days, as the jobs do after midnight. */
export async function charge(mortal: Mortal): Promise<void> {
  await runJob(mortal, ['hourly-rollup']);
  await runJob(mortal, ['daily-charge', '--at', tomorrow()]);
}

export function tomorrow(): string {
  const day = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10);
  return `${day}T00:20:00Z`;
}

/** The scheduler of the running Tintype may be at the same job just now: then once more. */
export async function runJob(mortal: Mortal, words: string[]): Promise<void> {
  for (;;) {
    const { code, output } = await mortal.job(words);
    if (output.includes('runs already')) continue;
    expect({ code, output }).toMatchObject({ code: 0 });
    return;
  }
}
