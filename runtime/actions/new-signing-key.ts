/** A signing key not yet stored in the database: its id and its sealed secret. Spec: Signing key. */
import { randomBytes } from 'node:crypto';
import { newId } from '../core/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sealing } from '../platform/sealing.ts';
import { signingKeyContext } from '../platform/sealing-contexts.ts';

const SECRET_BYTES = 32;

export function newSigningKey({ sealing, clock }: { sealing: Sealing; clock: Clock }): {
  kid: string;
  secret_sealed: Buffer;
} {
  const kid = newId('kid', clock.now().getTime());
  return { kid, secret_sealed: sealing.seal(randomBytes(SECRET_BYTES), signingKeyContext(kid)) };
}
