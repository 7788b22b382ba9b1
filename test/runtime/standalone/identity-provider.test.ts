import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Advice } from '../../../runtime/platform/advice.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createIdentity } from '../../../runtime/platform/identity.ts';
import {
  createIdentityProvider,
  type IdentityProvider,
} from '../../../runtime/standalone/identity-provider.ts';
import { closeHttp } from '../../support/close-http.ts';

let dataDir: string;
let server: Server;
let baseUrl: string;
let provider: IdentityProvider;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tintype-identity-'));
  server = createServer((request, response) => {
    if (!provider.handle(request, response)) response.writeHead(404).end('not ours');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider = await start();
});
afterEach(async () => {
  await closeHttp(server);
  await rm(dataDir, { recursive: true });
});

function start(): Promise<IdentityProvider> {
  return createIdentityProvider({ dataDir, baseUrl, clock: systemClock });
}

function verify(token: string) {
  const { issuer, jwksUrl } = provider;
  return createIdentity({ issuer, jwksUrl, clock: systemClock }).verify(token);
}

const keyFile = () => join(dataDir, 'identity-key.json');

describe('a token of the standalone identity provider', () => {
  it('is verified through the key set, as one of any provider', async () => {
    const token = await provider.mintToken({ sub: 'user_1', expiresInSeconds: 60 });
    expect(await verify(token)).toEqual({ sub: 'user_1' });
  });
  it('is accepted only for the audience it was made for', async () => {
    const { issuer, jwksUrl } = provider;
    const identity = createIdentity({ issuer, jwksUrl, audience: 'shop', clock: systemClock });
    const made = (more: object) =>
      provider.mintToken({ sub: 'user_1', expiresInSeconds: 60, ...more });
    expect(await identity.verify(await made({ audience: 'shop' }))).toEqual({ sub: 'user_1' });
    await expect(identity.verify(await made({}))).rejects.toMatchObject({ code: 'unauthorized' });
  });
  it('is rejected once it has expired', async () => {
    const token = await provider.mintToken({ sub: 'user_1', expiresInSeconds: -120 });
    await expect(verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
  });
  it('of another data folder is rejected', async () => {
    const other = await mkdtemp(join(tmpdir(), 'tintype-identity-'));
    const foreign = await createIdentityProvider({ dataDir: other, baseUrl, clock: systemClock });
    const token = await foreign.mintToken({ sub: 'user_1', expiresInSeconds: 60 });
    await rm(other, { recursive: true });
    await expect(verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

describe('the documents of the standalone identity provider', () => {
  it('lead from the issuer to the key set', async () => {
    const url = `${provider.issuer}/.well-known/openid-configuration`;
    const document = await (await fetch(url)).json();
    expect(document).toMatchObject({ issuer: provider.issuer, jwks_uri: provider.jwksUrl });
  });
  it('show only the public half of the key', async () => {
    const { keys } = (await (await fetch(provider.jwksUrl)).json()) as { keys: object[] };
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });
  it('are read-only, and other paths are not handled', async () => {
    expect((await fetch(provider.jwksUrl, { method: 'POST' })).status).toBe(405);
    expect((await fetch(provider.jwksUrl, { method: 'HEAD' })).status).toBe(200);
    for (const path of ['/identity', '/identity/', '/identity/jwks.json/', '/v1/me']) {
      expect((await fetch(baseUrl + path)).status, path).toBe(404);
    }
  });
});

describe('the key of the standalone identity provider', () => {
  it('survives a restart, readable only by its owner', async () => {
    const token = await provider.mintToken({ sub: 'user_1', expiresInSeconds: 60 });
    provider = await start();
    expect(await verify(token)).toEqual({ sub: 'user_1' });
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
  });
  it('is made private again if its file was readable by others', async () => {
    await chmod(keyFile(), 0o644);
    await start();
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
  });
  it('is the same for several processes that start at the same time', async () => {
    await rm(keyFile());
    const started = await Promise.all([start(), start(), start()]);
    const tokens = await Promise.all(
      started.map((each) => each.mintToken({ sub: 'user_1', expiresInSeconds: 60 })),
    );
    provider = await start();
    for (const token of tokens) expect(await verify(token)).toEqual({ sub: 'user_1' });
    expect(await readdir(dataDir)).toEqual(['identity-key.json']);
  });
  it('is never silently replaced if its file is broken', async () => {
    for (const text of ['', '{', '{"kty":"RSA"}', 'null']) {
      await writeFile(keyFile(), text);
      const said = await start().catch((error: unknown) => error);
      expect(said).toBeInstanceOf(Advice);
      expect(said).toMatchObject({
        message: expect.stringMatching(/identity-key\.json is not a signing key: delete it/),
      });
      expect(await readFile(keyFile(), 'utf8')).toBe(text);
    }
  });
});
