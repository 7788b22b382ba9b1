/** `tintype token`: a session token of the running standalone's own identity provider. Spec: Credentials, BrowserSession. */
import { findInstance, type Instance } from '../cli/instance.ts';
import { systemClock } from '../platform/clock.ts';
import { OWNER_SUBJECT } from './demo.ts';
import { STAFF_SUBJECT } from './environment.ts';
import { createIdentityProvider } from './identity-provider.ts';

type TokenOptions = { data: string; sub?: string; staff?: true; json?: true };

const TOKEN_SECONDS = 3600;

export async function token(options: TokenOptions): Promise<void> {
  const instance = await findInstance(options.data);
  const sub = options.staff === true ? STAFF_SUBJECT : options.sub;
  const minted = await mintSession(instance, {
    data: options.data,
    ...(sub === undefined ? {} : { sub }),
  });
  process.stdout.write(
    options.json === true ? `${JSON.stringify(minted)}\n` : printHeaders(minted.headers),
  );
}

export type MintedSession = { token: string; sub: string; headers: Record<string, string> };

/** Without a subject it is the one that manages what the folder of YAML declares. */
export async function mintSession(
  { issuer }: Instance,
  { data, sub = OWNER_SUBJECT }: { data: string; sub?: string },
): Promise<MintedSession> {
  const baseUrl = new URL(issuer).origin;
  const provider = await createIdentityProvider({ dataDir: data, baseUrl, clock: systemClock });
  const minted = await provider.mintToken({ sub, expiresInSeconds: TOKEN_SECONDS });
  const headers = { authorization: `Bearer ${minted}`, 'x-identity-user-id': sub };
  return { token: minted, sub, headers };
}

function printHeaders(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${lines.join('\n')}\n`;
}
