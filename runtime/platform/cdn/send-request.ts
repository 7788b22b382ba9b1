/**
 * One call of a CDN's API: ends by its deadline, follows no redirects, and reads only as much of the answer as a person
 * would. Failures on the way are CdnRefusals that say what to check.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { onIncompleteResponse } from '../http/on-incomplete-response.ts';
import { traceHeaders } from '../trace-context.ts';
import { traced } from '../tracing/spans.ts';
import { CdnRefusal } from './cdn.ts';
import type { CdnAnswer, CdnRequest } from './cdn-api.ts';

const DEADLINE_MS = 10_000;
const ANSWER_CHARACTERS_MAX = 100_000;

export async function sendRequest(
  request: CdnRequest,
  { signal, deadline_ms = DEADLINE_MS }: { signal: AbortSignal; deadline_ms?: number },
): Promise<CdnAnswer> {
  const deadline = AbortSignal.timeout(deadline_ms);
  const { host } = new URL(request.url);
  const attributes = { 'http.request.method': request.method, 'server.address': host };
  try {
    return await traced(`${request.method} CDN`, { kind: 'client', attributes }, () =>
      exchange(request, AbortSignal.any([signal, deadline])),
    );
  } catch (error) {
    signal.throwIfAborted();
    const says = deadline.aborted
      ? `${host} did not answer within ${deadline_ms / 1000} s`
      : `${host} cannot be reached (${reasonOf(error)})`;
    throw new CdnRefusal({ says, advice: UNREACHABLE, concerns: 'all' }, { cause: error });
  }
}

const UNREACHABLE =
  'check TINTYPE_CDN_URL, and whether name server, network policy and firewall let this process through';

function exchange(
  { method, url, headers, body }: CdnRequest,
  signal: AbortSignal,
): Promise<CdnAnswer> {
  const send = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    // Calls are rare: the other side would mostly have closed a kept connection before its next
    // use.
    const options = {
      method,
      headers: { ...traceHeaders(), ...headers, ...length },
      signal,
      agent: false as const,
    };
    const sent = send(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', reject);
      response.on('data', (part: string) => {
        if (text.length < ANSWER_CHARACTERS_MAX) text += part;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    onIncompleteResponse(sent, reject);
    sent.end(body);
  });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}
