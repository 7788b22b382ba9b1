/**
 * One GET of a tenant's URL: https, only at the ports of web servers, only to addresses that are public at the moment
 * of the connection, no redirects, limited by its deadline and its size. Spec: Watermark preset.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { literalFault, portFault } from './egress.ts';
import { type PublicLookup, publicLookup } from './public-lookup.ts';
import { reasonOf } from './reason-of.ts';

export type Downloaded = { bytes: Buffer } | { fault: string };

type DownloadOptions = {
  bytes_max: number;
  deadline_ms?: number;
  lookup?: PublicLookup;
  ports?: readonly number[];
};

const DEADLINE_MS = 15_000;
export const DOWNLOAD_PORTS: readonly number[] = [443, 8443];

/** Failures are sentences for the person who declared the URL. */
export async function downloadPublic(
  url: string,
  { bytes_max, deadline_ms = DEADLINE_MS, lookup = publicLookup(), ports }: DownloadOptions,
): Promise<Downloaded> {
  const fault = downloadFault(url, ports);
  if (fault !== undefined) return { fault };
  const signal = AbortSignal.timeout(deadline_ms);
  try {
    // No connection is reused: the next call must not use one that was allowed for this one.
    const sent = getHttps(url, { lookup, agent: false, signal });
    const [response] = await once(sent, 'response', { signal });
    return await collect(response, bytes_max);
  } catch (error) {
    if (signal.aborted) return { fault: `it took longer than ${deadline_ms / 1000} seconds` };
    return {
      fault: isCut(error) ? 'the connection was cut before all of it had arrived' : reasonOf(error),
    };
  }
}

/** A fault of the URL itself, whatever its server does: retrying cannot help. */
export function downloadFault(
  url: string,
  ports: readonly number[] = DOWNLOAD_PORTS,
): string | undefined {
  if (!URL.canParse(url)) return 'expected an https URL';
  const { username, password } = new URL(url);
  const hasCredentials = username !== '' || password !== '';
  return (
    portFault(url, ports) ??
    literalFault(url, 'public') ??
    (hasCredentials ? 'expected a URL without user name and password' : undefined)
  );
}

async function collect(response: IncomingMessage, bytes_max: number): Promise<Downloaded> {
  const { statusCode = 0 } = response;
  if (statusCode !== 200) {
    response.destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const why = isRedirect ? 'redirects are not followed' : 'only a 200 has an image';
    return { fault: `it answered ${statusCode}: ${why}` };
  }
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response) {
    length += part.length;
    if (length > bytes_max) return { fault: `it has more than ${bytes_max} bytes` };
    parts.push(part);
  }
  return { bytes: Buffer.concat(parts) };
}

/** Whether the server cut the connection, before or during the answer. */
function isCut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}
