// Serves an identity provider's key set over HTTP, can fail in the ways of real providers, and counts requests.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { closeHttp } from './close-http.ts';

export type KeySetServer = Awaited<ReturnType<typeof startKeySetServer>>;
export type SigningPair = Awaited<ReturnType<typeof makeSigningPair>>;

type Behavior = 'well' | 'error' | 'html' | 'empty' | 'huge' | 'hang' | 'redirect';

/** A key pair that signs tokens. `claims` and `header` override the defaults. */
export async function makeSigningPair(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
  return {
    jwk,
    privateKey,
    sign: (claims: JWTPayload, header: Record<string, unknown> = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(privateKey),
  };
}

export async function startKeySetServer() {
  const state = { behavior: 'well' as Behavior, requests: 0, keys: [] as object[] };
  const server = createServer((request, response) => {
    state.requests += 1;
    // The redirect leads to a valid key set, so only clients that do not follow it get no keys.
    answer(request.url === ELSEWHERE ? { ...state, behavior: 'well' } : state, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    state,
    url: `http://127.0.0.1:${port}/jwks.json`,
    close: () => closeHttp(server),
  };
}

const ELSEWHERE = '/elsewhere.json';

function answer(state: { behavior: Behavior; keys: object[] }, response: ServerResponse): void {
  const bodies: Record<Exclude<Behavior, 'hang' | 'redirect'>, [number, string]> = {
    well: [200, JSON.stringify({ keys: state.keys })],
    error: [500, '{}'],
    html: [200, '<!doctype html><title>Down for maintenance</title>'],
    empty: [200, '{"keys":[]}'],
    // Valid, but far too large.
    huge: [200, JSON.stringify({ keys: state.keys, x: 'x'.repeat(1_000_000) })],
  };
  if (state.behavior === 'hang') return;
  if (state.behavior === 'redirect') {
    response.writeHead(302, { location: ELSEWHERE }).end();
    return;
  }
  const [status, body] = bodies[state.behavior];
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
