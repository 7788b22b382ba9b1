/**
 * Erases the secrets of keys a day after they last verified, so that whoever later obtains the database and its
 * encryption keys finds only current ones. Spec: Signing key; Events, Signature rules.
 */
import { deleteSpentCallbackSecrets, deleteSpentKeySecrets } from '../db/spent-secrets.ts';
import type { JobContext, JobCounts } from './job.ts';

/** Delivery hosts cache a key for minutes at most after the database drops it. */
const GRACE_SECONDS = 24 * 3600;

export async function signingKeyRetirement({ db }: JobContext): Promise<JobCounts> {
  return {
    signing_keys: await deleteSpentKeySecrets(db, GRACE_SECONDS),
    callback_secrets: await deleteSpentCallbackSecrets(db, GRACE_SECONDS),
  };
}
