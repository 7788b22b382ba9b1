/** `tintype token`: a session token of the running standalone's own identity provider. Spec: Credentials, BrowserSession. */
import { findInstance } from '../cli/instance.ts';
import { systemClock } from '../platform/clock.ts';
import { STAFF_SUBJECT } from './environment.ts';
import { createIdentityProvider } from './identity-provider.ts';

type TokenOptions = { data: string; sub: string; staff?: true; json?: true };

const TOKEN_SECONDS = 3600;

export async function token(options: TokenOptions): Promise<void> {
  const instance = await findInstance(options.data);
  const provider = await createIdentityProvider({
    dataDir: options.data,
    baseUrl: new URL(instance.issuer).origin,
    clock: systemClock,
  });
  const sub = options.staff === true ? STAFF_SUBJECT : options.sub;
  const minted = await provider.mintToken({ sub, expiresInSeconds: TOKEN_SECONDS });
  const headers = { authorization: `Bearer ${minted}`, 'x-identity-user-id': sub };
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify({ token: minted, sub, headers })}\n`
      : `${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}\n`,
  );
}
