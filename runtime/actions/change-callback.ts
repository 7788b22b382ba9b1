/**
 * A project's callback URL and its secret. The first URL makes a secret, a rotation another one while the old one
 * signs along for a day, no URL drops both; what waits to be sent follows. Spec: Project; Events, Signature rules.
 */
import { randomBytes } from 'node:crypto';
import { ServiceError } from '../core/errors.ts';
import { CALLBACK_SECRET_BYTES, CALLBACK_SECRET_OVERLAP_SECONDS } from '../core/limits.ts';
import type { Transaction } from '../db/client.ts';
import type { ProjectChanges, ProjectRow } from '../db/projects.ts';
import { updateWebhookUrl } from '../db/webhook-deliveries.ts';
import type { Clock } from '../platform/clock.ts';
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
  deps: { sealing: Sealing; clock: Clock },
  { project, wish }: { project: ProjectRow; wish: CallbackWish },
): Promise<CallbackChange> {
  const url = wish.url === undefined ? project.callback_url : wish.url;
  if (url === null && wish.secret === 'rotate') {
    throw new ServiceError('invalid_request', {
      details: {
        issues: [
          { path: 'rotate_callback_secret', message: 'there is no callback_url; set one first' },
        ],
      },
    });
  }
  if (url !== project.callback_url) {
    await updateWebhookUrl(tx, { project_id: project.project_id, url });
  }
  if (url === null)
    return { changes: project.callback_url === null ? {} : NO_CALLBACK, secret: null };
  if (project.callback_secret_sealed === null) return firstSecret(deps, project, url);
  return wish.secret === 'rotate'
    ? rotatedSecret(deps, project, url)
    : { changes: { callback_url: url }, secret: null };
}

const NO_CALLBACK: ProjectChanges = {
  callback_url: null,
  callback_secret_sealed: null,
  previous_callback_secret_sealed: null,
  previous_callback_secret_until: null,
};

function firstSecret(deps: { sealing: Sealing }, project: ProjectRow, url: string): CallbackChange {
  const { secret, sealed } = newSecret(deps, project);
  return { changes: { callback_url: url, callback_secret_sealed: sealed }, secret };
}

function rotatedSecret(
  deps: { sealing: Sealing; clock: Clock },
  project: ProjectRow,
  url: string,
): CallbackChange {
  const { secret, sealed } = newSecret(deps, project);
  const until = new Date(deps.clock.now().getTime() + CALLBACK_SECRET_OVERLAP_SECONDS * 1000);
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
