/**
 * Why no answer came from a tenant's endpoint: what is wrong there, and what to do about it. The sentences are listed in
 * docs/webhooks.md.
 */
import { isIPv6 } from 'node:net';
import { stripText } from '../core/text.ts';
import { reasonOf } from './reason-of.ts';

type SocketError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };

/** By the code of Node's or OpenSSL's error; the first that matches applies. */
const CAUSES: readonly [code: RegExp, sentence: (error: SocketError) => string][] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, ({ code, hostname }) => `${hostname} does not resolve (${code})`],
  [/^ECONNREFUSED$/, (error) => `nothing listens at ${placeOf(error)} (ECONNREFUSED)`],
  [
    /^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/,
    (error) => `no connection to ${placeOf(error)} could be made: is a firewall in between?`,
  ],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/,
    () =>
      'the certificate is self-signed or of a private authority: use one of a public certificate authority',
  ],
  [
    /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?)$/,
    () =>
      'the certificate leads to no public certificate authority: send the whole chain, with the intermediate certificates',
  ],
  [/^CERT_HAS_EXPIRED$/, () => 'the certificate has expired: renew it'],
  [/^CERT_NOT_YET_VALID$/, () => 'the certificate is not valid yet: use one that is'],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    () => 'the certificate is for another host: use one that names the host of the URL',
  ],
  [
    /^(EPROTO|ERR_SSL_\w+)$/,
    () => 'no TLS connection could be made: the port must speak https, with TLS 1.2 or 1.3',
  ],
  [
    /^(ECONNRESET|EPIPE)$/,
    () =>
      'the endpoint closed the connection before its answer was complete: see its log; a port for https does the same if the URL begins with http:',
  ],
  [
    /^HPE_/,
    () =>
      'the answer is not HTTP/1.1, or its headers are too long; a port for https does the same if the URL begins with http:',
  ],
];

/** A sentence of one line. Happy Eyeballs tries several addresses and fails with the reasons of all. */
export function callbackFault(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map(callbackFault))].join('; ');
  }
  const { code = '' } = error as SocketError;
  const [, sentence] = CAUSES.find(([pattern]) => pattern.test(code)) ?? [];
  if (sentence !== undefined) return sentence(error as SocketError);
  return stripText(reasonOf(error).replaceAll(/\s+/g, ' ').trim());
}

function placeOf({ address = '', port }: SocketError): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
