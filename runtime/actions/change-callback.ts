/**
 * A project's callback URL and its secret. The first URL makes a secret, a rotation another one while the old
 * ones sign along for a day each, no URL drops all; what waits to be sent follows. Spec: Project; Events, Signature rules.
 */
import { randomBytes } from 'node:crypto';
import { refuseWrongInput } from '../core/input-issue.ts';
import { CALLBACK_SECRET_BYTES, CALLBACK_SECRET_OVERLAP_SECONDS } from '../core/limits.ts';
import type { Transaction } from '../db/client.ts';
import { findDatabaseTime } from '../db/database-time.ts';
import {
  deleteOlderCallbackSecrets,
  keepPreviousCallbackSecret,
} from '../db/older-callback-secrets.ts';
import type { ProjectChanges, ProjectRow } from '../db/projects.ts';
import { updateWebhookUrl } from '../db/webhook-deliveries.ts';
import type { Sealing } from '../platform/sealing.ts';
import { callbackSecretContext } from '../platform/sealing-contexts.ts';

export type CallbackWish = {
  /** undefined: stays; null: no callback any more. */
  url: string | null | undefined;
  secret: 'keep' | 'rotate';
};

export type CallbackChange = {
  changes: ProjectChanges;
  /** To be shown once; null where no secret was made. */
  secret: string | null;
};

/** The rows that wait are changed here; the project's own columns are the caller's to write. */
export async function changeCallback(
  tx: Transaction,
  deps: { sealing: Sealing },
  { project, wish }: { project: ProjectRow; wish: CallbackWish },
): Promise<CallbackChange> {
  refuseWrongInput(callbackIssues(project, wish));
  const url = urlAfter(project, wish);
  if (url !== project.callback_url) {
    await updateWebhookUrl(tx, { project_id: project.project_id, url });
  }
  if (url === null) return dropCallback(tx, project);
  if (project.callback_secret_sealed === null) return firstSecret(deps, project, url);
  if (wish.secret === 'keep') return { changes: { callback_url: url }, secret: null };
  await keepPreviousCallbackSecret(tx, project.project_id);
  const now = await findDatabaseTime(tx);
  return rotatedSecret(deps, project, { url, now });
}

/** What is wrong with a wish for this project, by field. */
export function callbackIssues(project: ProjectRow, wish: CallbackWish) {
  const isFit = wish.secret === 'keep' || urlAfter(project, wish) !== null;
  const message = 'there is no callback_url; set one first';
  return isFit ? [] : [{ path: 'rotate_callback_secret', message }];
}

function urlAfter({ callback_url }: ProjectRow, { url }: CallbackWish): string | null {
  return url === undefined ? callback_url : url;
}

const NO_CALLBACK: ProjectChanges = {
  callback_url: null,
  callback_secret_sealed: null,
  previous_callback_secret_sealed: null,
  previous_callback_secret_until: null,
};

async function dropCallback(tx: Transaction, project: ProjectRow): Promise<CallbackChange> {
  if (project.callback_url === null) return { changes: {}, secret: null };
  await deleteOlderCallbackSecrets(tx, project.project_id);
  return { changes: NO_CALLBACK, secret: null };
}

function firstSecret(deps: { sealing: Sealing }, project: ProjectRow, url: string): CallbackChange {
  const { secret, sealed } = newSecret(deps, project);
  return { changes: { callback_url: url, callback_secret_sealed: sealed }, secret };
}

function rotatedSecret(
  deps: { sealing: Sealing },
  project: ProjectRow,
  { url, now }: { url: string; now: Date },
): CallbackChange {
  const { secret, sealed } = newSecret(deps, project);
  const until = new Date(now.getTime() + CALLBACK_SECRET_OVERLAP_SECONDS * 1000);
  return {
    changes: {
      callback_url: url,
      callback_secret_sealed: sealed,
      previous_callback_secret_sealed: project.callback_secret_sealed,
      previous_callback_secret_until: until,
    },
    secret,
  };
}

function newSecret({ sealing }: { sealing: Sealing }, { project_id }: ProjectRow) {
  const secret = `whsec_${randomBytes(CALLBACK_SECRET_BYTES).toString('base64url')}`;
  return { secret, sealed: sealing.seal(Buffer.from(secret), callbackSecretContext(project_id)) };
}
