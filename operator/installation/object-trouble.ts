/** What stood in the way of an object of an installation, in a sentence that says what to do. */
import { type FailureReason, type KubeFailure, unwrap } from '../kube/kube-failure.ts';
import { printUndoing } from '../kube/who-wrote.ts';
import type { Written } from './carry-out.ts';

/** What stood in the way of an object. */
export type Trouble = {
  kind: string;
  name: string;
  reason: 'ObjectTaken' | 'ObjectRefused' | 'ObjectUndone' | 'GatewayAPIMissing';
  message: string;
};

/** `path` is where it was not as it was written, `by` who is noted there. */
export function sayUndone({ kind, name, path, by }: Written): Trouble {
  const message = `${kind} '${name}' does not stay as it is written: ${printUndoing(path, by)}. It is written again ever more seldom, every five minutes in the end: stop who does that, or declare in the ImageService what is wanted.`;
  return { kind, name, reason: 'ObjectUndone', message };
}

/** What the server does not take of an object; whatever else fails, fails the pass. */
const REFUSALS: readonly FailureReason[] = [
  'Forbidden',
  'Invalid',
  'BadRequest',
  'NotFound',
  'Refused',
  'Unavailable',
];

/** A webhook that does not answer is one object's; else the server is away for a moment, and the pass is taken again. */
export function troubleOf({ kind, name }: Written, failure: KubeFailure): Trouble {
  const what = `${kind} '${name}'`;
  if (failure.reason === 'Conflict' || failure.reason === 'AlreadyExists') {
    const message = `${what} is there and was not made by the operator: delete it, or give the ImageService another name.`;
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
