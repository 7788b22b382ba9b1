/**
 * Changes a project's callback URL and its secret. Setting the first URL creates a secret; a rotation creates a new one
 * while the old ones keep signing for a day each; removing the URL drops all secrets. Pending deliveries get the new
 * URL. Spec: Project; Events, Signature rules.
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

export type CallbackPatch = {
  /** undefined: unchanged; null: remove the callback. */
  url: string | null | undefined;
  secret: 'keep' | 'rotate';
};

export type CallbackChange = {
  changes: ProjectChanges;
  /** The new secret, to be shown once; null if none was created. */
  secret: string | null;
};

/** Updates the pending deliveries; the caller writes the returned columns of the project. */
export async function changeCallback(
  tx: Transaction,
  deps: { sealing: Sealing },
  { project, input }: { project: ProjectRow; input: CallbackPatch },
): Promise<CallbackChange> {
  refuseWrongInput(callbackIssues(project, input));
  const url = urlAfter(project, input);
  if (url !== project.callback_url) {
    await updateWebhookUrl(tx, { project_id: project.project_id, url });
  }
  if (url === null) return dropCallback(tx, project);
  if (project.callback_secret_sealed === null) return firstSecret(deps, project, url);
  if (input.secret === 'keep') return { changes: { callback_url: url }, secret: null };
  await keepPreviousCallbackSecret(tx, project.project_id);
  const now = await findDatabaseTime(tx);
  return rotatedSecret(deps, project, { url, now });
}

/** The issues of a requested change for this project, by field. */
export function callbackIssues(project: ProjectRow, input: CallbackPatch) {
  const isFit = input.secret === 'keep' || urlAfter(project, input) !== null;
  const message = 'there is no callback_url; set one first';
  return isFit ? [] : [{ path: 'rotate_callback_secret', message }];
}

function urlAfter({ callback_url }: ProjectRow, { url }: CallbackPatch): string | null {
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
