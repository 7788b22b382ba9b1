/** AWS Signature Version 4 over one request, with credentials from the usual variables, profiles and roles. */
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '../aws-hash.ts';
import type { Clock } from '../clock.ts';
import { CdnRefusal } from './cdn.ts';
import type { CdnRequest } from './cdn-api.ts';

export type AwsIdentity = () => Promise<{
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}>;

export type AwsSigning = {
  region: string;
  service: string;
  identity: AwsIdentity;
  clock: Clock;
  signal: AbortSignal;
};

const CREDENTIALS_MS_MAX = 10_000;

export async function signAwsRequest(request: CdnRequest, of: AwsSigning): Promise<CdnRequest> {
  const { region, service, clock } = of;
  const credentials = await credentialsOf(of);
  const signer = new SignatureV4({ region, service, credentials, sha256: Sha256 });
  const { protocol, hostname, host, port, pathname } = new URL(request.url);
  const unsigned = {
    method: request.method,
    protocol,
    hostname,
    path: pathname,
    headers: { ...request.headers, host },
    ...(port === '' ? {} : { port: Number(port) }),
    ...(request.body === undefined ? {} : { body: request.body }),
  };
  const { headers } = await signer.sign(unsigned, { signingDate: clock.now() });
  return { ...request, headers };
}

/** Bounded in time, because the credentials of a role come over the network. */
async function credentialsOf({ identity, signal }: AwsSigning) {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(CREDENTIALS_MS_MAX)]);
  const { promise: over, reject } = Promise.withResolvers<never>();
  const stop = () => reject(ended.reason);
  ended.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([identity(), over]);
  } catch (error) {
    signal.throwIfAborted();
    const says = 'no AWS credentials were found';
    const advice =
      'give this process AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role that may purge';
    throw new CdnRefusal({ says, advice, concerns: 'all' }, { cause: error });
  } finally {
    ended.removeEventListener('abort', stop);
  }
}
