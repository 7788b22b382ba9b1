/**
 * `tintype token`: issues an access token from the running standalone's own identity provider. Spec: Credentials,
 * BrowserSession.
 */

import { Advice } from '../platform/advice.ts';
import { systemClock } from '../platform/clock.ts';
import { type Instance, requireInstance } from '../platform/instance.ts';
import { OWNER_SUBJECT } from './demo.ts';
import { STAFF_SUBJECT } from './environment.ts';
import { createIdentityProvider } from './identity-provider.ts';

type Caller = { data: string; sub?: string; staff?: true };

const TOKEN_SECONDS = 3600;

export async function token(options: Caller & { json?: true }): Promise<void> {
  const minted = await mintSession(await requireInstance(options.data), options);
  process.stdout.write(
    options.json === true ? `${JSON.stringify(minted)}\n` : printHeaders(minted.headers),
  );
}

export async function sessionHeaders(
  instance: Instance,
  caller: Caller,
): Promise<Record<string, string>> {
  return (await mintSession(instance, caller)).headers;
}

type MintedSession = { token: string; sub: string; headers: Record<string, string> };

/** The default subject manages what the folder of YAML declares. */
async function mintSession(instance: Instance, caller: Caller): Promise<MintedSession> {
  const { issuer, environment } = instance;
  const { data } = caller;
  const sub = caller.staff === true ? STAFF_SUBJECT : (caller.sub ?? OWNER_SUBJECT);
  const baseUrl = new URL(issuer).origin;
  const provider = await createIdentityProvider({ dataDir: data, baseUrl, clock: systemClock });
  if (provider.issuer !== issuer) {
    throw new Advice(`this Tintype accepts tokens of ${issuer}, not its own: get one there`);
  }
  const audience = environment['TINTYPE_IDENTITY_AUDIENCE'];
  const minted = await provider.mintToken({
    sub,
    expiresInSeconds: TOKEN_SECONDS,
    ...(audience !== undefined && { audience }),
  });
  const headers = { authorization: `Bearer ${minted}`, 'x-identity-user-id': sub };
  return { token: minted, sub, headers };
}

function printHeaders(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${lines.join('\n')}\n`;
}
