/** What went wrong with an object of an installation, in a sentence that says what to do. */

import { printReverter } from '../kube/find-last-writer.ts';
import { type FailureReason, type KubeFailure, unwrap } from '../kube/kube-failure.ts';
import type { ObjectChange } from './apply-steps.ts';

/** What went wrong with one object. */
export type ObjectProblem = {
  kind: string;
  name: string;
  reason: 'ObjectTaken' | 'ObjectRefused' | 'ObjectUndone' | 'GatewayAPIMissing';
  message: string;
};

/** `path` is where it differs from what was written, `by` who is recorded there. */
export function describeRevert({ kind, name, path, by }: ObjectChange): ObjectProblem {
  const message = `${kind} '${name}' does not stay as written: ${printReverter(path, by)}. It is written again less and less often, finally every five minutes: stop whoever changes it, or declare the wanted state in the ImageService.`;
  return { kind, name, reason: 'ObjectUndone', message };
}

/** Reasons for which the server rejects one object; any other failure fails the pass. */
const REFUSALS: readonly FailureReason[] = [
  'Forbidden',
  'Invalid',
  'BadRequest',
  'NotFound',
  'Refused',
  'Unavailable',
];

/**
 * If a webhook does not answer, the problem is one object's; otherwise the server is down for a
 * moment, and the pass is repeated.
 */
export function describeFailure({ kind, name }: ObjectChange, failure: KubeFailure): ObjectProblem {
  const what = `${kind} '${name}'`;
  if (failure.reason === 'Conflict' || failure.reason === 'AlreadyExists') {
    const message = `${what} exists and was not created by the operator: delete it, or give the ImageService another name.`;
    return { kind, name, reason: 'ObjectTaken', message };
  }
  if (!REFUSALS.includes(failure.reason)) unwrap({ ok: false, failure });
  if (kind === 'HTTPRoute' && failure.reason === 'NotFound') {
    const message = `${what} cannot be written, as the cluster has no Gateway API: install it, or set \`spec.routing.mode\` to Ingress.`;
    return { kind, name, reason: 'GatewayAPIMissing', message };
  }
  const message = `${what} is refused by the API server: ${failure.message.replace(/\.?$/, '.')}`;
  return { kind, name, reason: 'ObjectRefused', message };
}
