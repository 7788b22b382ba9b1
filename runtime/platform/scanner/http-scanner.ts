/**
 * A model server over HTTP: one POST per image, limited by its deadline, no redirects, and the answer is read only up
 * to its maximum length. The operator configured the address, so it may be anywhere. The contract is docs/scanner.md.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { z } from 'zod';
import type { Rendition } from '../../core/delivery/preview-request.ts';
import { parseRetryAfter } from '../../core/events.ts';
import {
  SCAN_ANSWER_BYTES_MAX,
  SCAN_PICTURE_PIXELS,
  SCAN_SCORES_MAX,
  SCAN_TIMEOUT_SECONDS,
} from '../../core/limits.ts';
import type { Scores } from '../../core/scan-flags.ts';
import type { Clock } from '../clock.ts';
import { onIncompleteResponse } from '../http/on-incomplete-response.ts';
import { traceHeaders } from '../trace-context.ts';
import { traced } from '../tracing/spans.ts';
import { type Scanner, ScannerFault } from './scanner.ts';
import { withCircuitBreaker } from './with-circuit-breaker.ts';

export type HttpScannerOptions = { url: string; clock: Clock; deadline_ms?: number };

/** The size that models see: they would discard more pixels. */
const RENDITION: Rendition = {
  fit: 'box',
  pixels: SCAN_PICTURE_PIXELS,
  format: 'jpeg',
  quality: 85,
};
export function openHttpScanner(options: HttpScannerOptions): Scanner {
  const scan: Scanner['scan'] = (picture, signal) => ask(options, picture, signal);
  return withCircuitBreaker({ rendition: RENDITION, scan }, options.clock);
}

async function ask(
  { url, clock, deadline_ms = SCAN_TIMEOUT_SECONDS * 1000 }: HttpScannerOptions,
  picture: Uint8Array,
  signal: AbortSignal,
): Promise<Scores> {
  const deadline = AbortSignal.timeout(deadline_ms);
  const attributes = { 'http.request.method': 'POST', 'server.address': new URL(url).host };
  try {
    return await traced('POST scanner', { kind: 'client', attributes }, async () =>
      judgeAnswer(await exchange(url, picture, AbortSignal.any([signal, deadline])), clock),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ScannerFault) throw error;
    const says = deadline.aborted
      ? `gave no complete answer within ${deadline_ms / 1000} s`
      : `cannot be reached at ${new URL(url).host}: check TINTYPE_SCANNER_URL`;
    throw new ScannerFault('away', says, { cause: error });
  }
}

type Answered = Pick<IncomingMessage, 'statusCode' | 'headers'> & { bytes: Buffer };

/** No connection is kept: the other side may close it just as it is used again. */
function exchange(url: string, picture: Uint8Array, signal: AbortSignal): Promise<Answered> {
  const send = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
  const headers = {
    ...traceHeaders(),
    'content-type': `image/${RENDITION.format}`,
    'content-length': String(picture.length),
    accept: 'application/json',
  };
  return new Promise((resolve, reject) => {
    const sent = send(url, { method: 'POST', headers, signal, agent: false }, (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('error', reject);
      response.on('data', (part: Buffer) => {
        parts.push(part);
        bytes += part.length;
        if (bytes <= SCAN_ANSWER_BYTES_MAX) return;
        reject(tooLong());
        sent.destroy();
      });
      response.on('end', () => {
        const { statusCode, headers: said } = response;
        resolve({ statusCode, headers: said, bytes: Buffer.concat(parts) });
      });
    });
    onIncompleteResponse(sent, reject);
    sent.end(picture);
  });
}

function tooLong(): ScannerFault {
  return new ScannerFault('away', `answered more than ${SCAN_ANSWER_BYTES_MAX} bytes`);
}

/** Statuses that concern this image; any other refusal concerns every image. */
const OF_THE_PICTURE = [400, 413, 415, 422];

/** Returns the scores of a complete answer. Throws ScannerFault. */
export function judgeAnswer(
  { statusCode: status = 0, headers, bytes }: Answered,
  clock: Clock,
): Scores {
  if (OF_THE_PICTURE.includes(status))
    throw new ScannerFault('refused', `answered ${status} to this picture`);
  const retry_after_seconds = parseRetryAfter(headers['retry-after'], clock.now());
  if (status !== 200)
    throw new ScannerFault('away', `answered ${status}, not 200`, { retry_after_seconds });
  return readScores(bytes);
}

const answer = z.object({
  scores: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,39}$/), z.number().min(0).max(1))
    .refine((scores) => Object.keys(scores).length <= SCAN_SCORES_MAX),
});

function readScores(bytes: Buffer): Scores {
  try {
    return answer.parse(JSON.parse(bytes.toString())).scores;
  } catch (cause) {
    throw new ScannerFault('away', 'answered 200, but not with scores', { cause });
  }
}
