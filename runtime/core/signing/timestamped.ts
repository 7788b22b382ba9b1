// The header form `t=<unix>,v1=<hex>` and the payload `t.body`, shared by our webhooks and payment provider A. Spec:
// Events, Signature rules 1–4.
import { hmac, isAnySecret } from './hmac.ts';

/** A parsed header. `t` keeps its digits, because they are part of what was signed. */
export type TimestampedSignature = { readonly t: string; readonly v1: readonly string[] };

/** The header for one moment: one v1 per secret. */
export function printTimestamped(
  secrets: readonly string[],
  t: number,
  body: Uint8Array | string,
): string {
  const macs = secrets.map((secret) => `v1=${macOf(secret, String(t), body)}`);
  return [`t=${t}`, ...macs].join(',');
}

/**
 * Parses the header: exactly one t, at least one v1, all v1 in hex. Items with another name are
 * ignored, so that a sender may add a scheme; undefined for anything else.
 */
export function parseTimestamped(header: string): TimestampedSignature | undefined {
  const items = header.split(',').map((item) => /^([a-z0-9]+)=([^=,\s]+)$/.exec(item));
  const valuesOf = (name: string) =>
    items.filter((item) => item?.[1] === name).map((item) => item?.[2] ?? '');
  const [t, ...more] = valuesOf('t');
  const v1 = valuesOf('v1');
  const isWellFormed = items.every((item) => item !== null) && v1.every(isHex);
  if (t === undefined || more.length > 0 || v1.length === 0 || !isWellFormed) return undefined;
  return /^[0-9]{1,12}$/.test(t) ? { t, v1 } : undefined;
}

/** Whether t lies within the tolerance, on either side of now. */
export function isWithinTolerance(
  signature: TimestampedSignature,
  nowSeconds: number,
  toleranceSeconds: number,
): boolean {
  return Math.abs(nowSeconds - Number(signature.t)) <= toleranceSeconds;
}

/** Whether any v1 signs exactly these bytes. */
export function isSignedBy(
  secret: string,
  signature: TimestampedSignature,
  body: Uint8Array | string,
): boolean {
  return isAnySecret(signature.v1, macOf(secret, signature.t, body));
}

function macOf(secret: string, t: string, body: Uint8Array | string): string {
  return hmac(secret, `${t}.`, body).toString('hex');
}

function isHex(text: string): boolean {
  return /^[0-9a-fA-F]+$/.test(text);
}
