/**
 * Callers whose credential is a signature over the raw bytes of the body, verified before the body is parsed.
 * Spec: Authentication, Credentials (StorageEventSignature, PaymentProviderASignature, PaymentProviderBSignature).
 */
import { ServiceError } from '../../core/errors.ts';
import { verifyProviderA } from '../../core/signing/provider-a.ts';
import { verifyProviderB } from '../../core/signing/provider-b.ts';
import { verifyStorageEvent } from '../../core/signing/storage-event.ts';
import type { Clock } from '../../platform/clock.ts';
import type { SignedCall } from './presented-credential.ts';
import type { Credential } from './principal.ts';

export type InboundSecrets = {
  readonly clock: Clock;
  readonly storageEventSecret: string | undefined;
  /** Undefined when this deployment does not use the provider. */
  readonly providerASecret: string | undefined;
  readonly providerBSecret: string | undefined;
};

type Signing = { header: string; check(deps: InboundSecrets, signed: Signed): boolean };
type Signed = { body: Uint8Array; signature: string | undefined };

const signings = {
  storage_event_signature: {
    header: 'x-storage-event-notification-signature',
    check: ({ storageEventSecret: secret }, { body, signature }) =>
      secret !== undefined && verifyStorageEvent(secret, body, signature),
  },
  provider_a_signature: {
    header: 'provider-a-signature',
    check: ({ providerASecret: secret, clock }, { body, signature: header }) => {
      if (secret === undefined) throw new ServiceError('billing_unavailable');
      const now_seconds = Math.floor(clock.now().getTime() / 1000);
      return verifyProviderA({ secret, header, body, now_seconds });
    },
  },
  provider_b_signature: {
    header: 'provider-b-signature',
    check: ({ providerBSecret: secret }, { body, signature }) => {
      if (secret === undefined) throw new ServiceError('billing_unavailable');
      return verifyProviderB(secret, body, signature);
    },
  },
} as const satisfies Partial<Record<Credential, Signing>>;

export type InboundCredential = keyof typeof signings;

/** The body signature that an endpoint requires; undefined when it requires another credential. */
export function inboundCredential(allowed: readonly Credential[]): InboundCredential | undefined {
  return (Object.keys(signings) as InboundCredential[]).find((each) => allowed.includes(each));
}

/** The header that holds the signature. */
export function signatureHeader(credential: InboundCredential): string {
  return signings[credential].header;
}

/** Throws `invalid_signature`, or `billing_unavailable` if the provider is not configured. */
export function checkInbound(
  deps: InboundSecrets,
  credential: InboundCredential,
  { headers, body }: SignedCall,
): void {
  const { header, check } = signings[credential];
  const given = headers[header];
  const signature = typeof given === 'string' ? given : undefined;
  if (!check(deps, { body, signature })) throw new ServiceError('invalid_signature');
}
