// The standalone's own identity provider: OpenID discovery, a key set and RS256 tokens, so that a single machine needs
// no outside login. For loopback only; the rest of the code sees an ordinary issuer. Spec: Authentication, Credentials,
// BrowserSession.
import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose';
import { Advice } from '../platform/advice.ts';
import type { Clock } from '../platform/clock.ts';
import { ignore } from '../platform/storage/object-file.ts';

const ALGORITHM = 'RS256';
const KEY_FILE = 'identity-key.json';
const OWNER_ONLY = 0o600;
const OTHERS_BITS = 0o077;

export type IdentityProvider = {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Answers the provider's own paths; returns whether the request was one of them. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  mintToken(token: { sub: string; expiresInSeconds: number; audience?: string }): Promise<string>;
};

/** `baseUrl` is the API's origin on this machine; the issuer is `<baseUrl>/identity`. */
export async function createIdentityProvider(options: {
  dataDir: string;
  baseUrl: string;
  clock: Clock;
}): Promise<IdentityProvider> {
  const issuer = `${options.baseUrl.replace(/\/$/, '')}/identity`;
  const jwksUrl = `${issuer}/jwks.json`;
  const { privateKey, publicJwk, kid } = await loadKey(options.dataDir);
  const documents = new Map<string, object>([
    ['/identity/.well-known/openid-configuration', discovery(issuer, jwksUrl)],
    ['/identity/jwks.json', { keys: [publicJwk] }],
  ]);
  return {
    issuer,
    jwksUrl,
    handle: (request, response) => handle(documents, request, response),
    mintToken({ sub, expiresInSeconds, audience }) {
      const nowSeconds = Math.floor(options.clock.now().getTime() / 1000);
      return new SignJWT(audience === undefined ? {} : { aud: audience })
        .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setSubject(sub)
        .setIssuedAt(nowSeconds)
        .setExpirationTime(nowSeconds + expiresInSeconds)
        .sign(privateKey);
    },
  };
}

function discovery(issuer: string, jwksUrl: string): object {
  return {
    issuer,
    jwks_uri: jwksUrl,
    response_types_supported: ['token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [ALGORITHM],
  };
}

function handle(
  documents: ReadonlyMap<string, object>,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const document = documents.get(request.url?.split('?')[0] ?? '');
  if (document === undefined) return false;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const body = JSON.stringify(document);
  response.writeHead(isRead ? 200 : 405, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(isRead ? { 'content-length': Buffer.byteLength(body) } : { allow: 'GET, HEAD' }),
  });
  response.end(request.method === 'GET' ? body : undefined);
  return true;
}

type LoadedKey = { privateKey: CryptoKey; publicJwk: JWK; kid: string };

async function loadKey(dataDir: string): Promise<LoadedKey> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, KEY_FILE);
  const privateJwk = (await readKey(path)) ?? (await createKey(path));
  const kid = await calculateJwkThumbprint(privateJwk);
  const privateKey = await importJWK(privateJwk, ALGORITHM);
  if (privateKey instanceof Uint8Array) throw unreadable(path);
  const { kty, n, e } = privateJwk;
  const publicJwk = { kty, n, e, kid, alg: ALGORITHM, use: 'sig' } as JWK;
  return { privateKey, publicJwk, kid };
}

async function readKey(path: string): Promise<JWK | undefined> {
  const text = await readFile(path, 'utf8').catch(ignore('ENOENT'));
  if (text === undefined) return undefined;
  if (((await stat(path)).mode & OTHERS_BITS) !== 0) await chmod(path, OWNER_ONLY);
  return parseKey(path, text);
}

function parseKey(path: string, text: string): JWK {
  try {
    const jwk: JWK = JSON.parse(text);
    if (jwk.kty === 'RSA' && typeof jwk.d === 'string') return jwk;
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw unreadable(path);
}

function unreadable(path: string, cause?: unknown): Error {
  return new Advice(`${path} is not a signing key: delete it to get a new one`, { cause });
}

/**
 * Written to a temporary file and linked into place: there is never half a key, and of two parallel
 * starts one key wins.
 */
async function createKey(path: string): Promise<JWK> {
  const pair = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(pair.privateKey);
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(aside, 'wx', OWNER_ONLY);
    await file.writeFile(JSON.stringify(jwk));
    await file.sync();
    await file.close();
    await link(aside, path);
    return jwk;
  } catch (error) {
    const winner =
      (error as NodeJS.ErrnoException).code === 'EEXIST' ? await readKey(path) : undefined;
    if (winner === undefined) throw error;
    return winner;
  } finally {
    await rm(aside, { force: true });
  }
}
