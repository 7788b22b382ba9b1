// An access token is accepted as nothing else, and nothing else as an access token. Spec: Authentication.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveKey } from '../../../runtime/core/signing/hmac.ts';
import { createIdentity, type Identity } from '../../../runtime/platform/identity.ts';
import {
  type KeySetServer,
  makeSigningPair,
  startKeySetServer,
} from '../../support/key-set-server.ts';
import { keyKinds, offersOf, ownKinds, specifiedKinds } from '../../support/token-kinds.ts';

const issuer = 'https://login.example/client_1';
const now = new Date('2026-11-20T12:00:00Z');
const kinds = [
  ...ownKinds((prefix) => deriveKey(Buffer.alloc(32, 1), prefix)),
  ...specifiedKinds(),
  ...keyKinds(),
];
let server: KeySetServer;
let identity: Identity;
let accessToken: string;

beforeAll(async () => {
  const pair = await makeSigningPair('key-1');
  server = await startKeySetServer();
  server.state.keys = [pair.jwk];
  identity = createIdentity({ issuer, jwksUrl: server.url, clock: { now: () => now } });
  const seconds = Math.floor(now.getTime() / 1000);
  accessToken = await pair.sign({ iss: issuer, sub: 'user_1', iat: seconds, exp: seconds + 300 });
});
afterAll(() => server.close());

describe('an access token', () => {
  it('is accepted by the verifier of access tokens', async () => {
    expect(await identity.verify(accessToken)).toEqual({ sub: 'user_1' });
  });

  it.each(kinds)('is not accepted by the verifier of $name, whole or in parts', ({ verifies }) => {
    const offers = offersOf(accessToken);
    expect(offers.length).toBeGreaterThan(3);
    expect(offers.filter((offer) => verifies(offer))).toEqual([]);
  });

  it.each(kinds)('cannot be replaced by $name, whole or in parts', async ({ token, verifies }) => {
    expect(verifies(token)).toBe(true);
    for (const offer of offersOf(token)) {
      const refusal = expect.objectContaining({ code: 'unauthorized' });
      await expect(identity.verify(offer), offer).rejects.toEqual(refusal);
    }
  });
});
