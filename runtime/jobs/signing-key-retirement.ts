/**
 * Erases the secrets of keys that verify no longer, a day after they did for the last time: whoever gets hold of the
 * database and its keys later finds the current ones alone. Spec: Signing key; Events, Signature rules.
 */
import { deleteSpentCallbackSecrets, deleteSpentKeySecrets } from '../db/spent-secrets.ts';
import type { JobContext, JobCounts } from './job.ts';

/** Delivery hosts know a key for longer than the database does, minutes at most. */
const GRACE_SECONDS = 24 * 3600;

export async function signingKeyRetirement({ db }: JobContext): Promise<JobCounts> {
  return {
    signing_keys: await deleteSpentKeySecrets(db, GRACE_SECONDS),
    callback_secrets: await deleteSpentCallbackSecrets(db, GRACE_SECONDS),
  };
}
