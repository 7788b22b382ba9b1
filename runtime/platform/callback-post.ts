/**
 * One POST to a tenant's URL. It ends by its deadline whatever the other side does, goes only to addresses that are
 * public at the moment of the connection, and follows no redirects. Every outcome is an answer that can be shown to the
 * tenant. Spec: Events, Delivery format; Webhook delivery attempt.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import { cutText } from '../core/cut-text.ts';
import { parseRetryAfter } from '../core/events.ts';
import {
  WEBHOOK_ANSWER_BYTES_MAX,
  WEBHOOK_EXCERPT_LENGTH_MAX,
  WEBHOOK_TIMEOUT_SECONDS,
} from '../core/limits.ts';
import { stripText } from '../core/text.ts';
import { callbackFault } from './callback-fault.ts';
import type { Clock } from './clock.ts';
import { literalFault, portFault } from './egress.ts';
import { onIncompleteResponse } from './http/on-incomplete-response.ts';
import { type PublicLookup, publicLookup } from './public-lookup.ts';
import { traceHeaders } from './trace-context.ts';
import { traced } from './tracing/spans.ts';

export type CallbackCall = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Aborts when the process ends. */
  signal: AbortSignal;
};

export type CallbackAnswer = {
  /** Null when no answer began. Beside an error, a 2xx is one that was not complete. */
  response_status: number | null;
  response_excerpt: string | null;
  /** Null: the call was accepted. Otherwise a sentence for the operator of the endpoint. */
  error: string | null;
  retry_after_seconds: number;
};

/** Throws only when the process ends. */
export type PostCallback = (call: CallbackCall) => Promise<CallbackAnswer>;

export type CallbackOptions = {
  egress: 'public' | 'any';
  /** The allowed ports for public egress; default: all. */
  ports?: readonly number[];
  clock: Clock;
  lookup?: PublicLookup;
  deadline_ms?: number;
};

export function callbackPost(options: CallbackOptions): PostCallback {
  const { egress, ports, clock, lookup = publicLookup(), deadline_ms = DEADLINE_MS } = options;
  return async (call) => {
    const deadline = AbortSignal.timeout(deadline_ms);
    const signal = AbortSignal.any([call.signal, deadline]);
    const begun: Begun = { status: null };
    try {
      const port = ports && egress === 'public' ? portFault(call.url, ports) : undefined;
      const fault = port ?? literalFault(call.url, egress);
      if (fault !== undefined) return failed(fault);
      const guarded = egress === 'public' ? { lookup } : {};
      const attributes = { 'server.address': new URL(call.url).host };
      return await traced('POST callback', { kind: 'client', attributes }, async () =>
        judge(await exchange(call, { ...guarded, signal }, begun), clock),
      );
    } catch (error) {
      call.signal.throwIfAborted();
      if (!deadline.aborted) return failed(callbackFault(error), begun);
      return failed(`no complete answer within ${deadline_ms / 1000} s`, begun);
    }
  };
}

const DEADLINE_MS = WEBHOOK_TIMEOUT_SECONDS * 1000;

/** The head of an answer that may not be complete; null until it arrives. */
type Begun = { status: number | null };
type Answered = { response: IncomingMessage; text: string };

/**
 * No connection is reused: a later call for another tenant must not use one that was allowed for
 * this one.
 */
function exchange(call: CallbackCall, options: RequestOptions, begun: Begun): Promise<Answered> {
  const send = call.url.startsWith('https:') ? requestHttps : requestHttp;
  const length = { 'Content-Length': String(Buffer.byteLength(call.body)) };
  const headers = { ...traceHeaders(), ...call.headers, ...length };
  return new Promise((resolve, reject) => {
    const sent = send(
      call.url,
      { ...options, method: 'POST', headers, agent: false },
      (response) => {
        begun.status = response.statusCode ?? null;
        const parts: Buffer[] = [];
        let bytes = 0;
        const end = () => {
          resolve({ response, text: Buffer.concat(parts).toString() });
          sent.destroy();
        };
        response.on('error', reject);
        response.on('data', (part: Buffer) => {
          parts.push(part);
          bytes += part.length;
          if (bytes >= WEBHOOK_ANSWER_BYTES_MAX) end();
        });
        response.on('end', end);
      },
    );
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ response, text: '' });
    });
    onIncompleteResponse(sent, reject);
    sent.end(call.body);
  });
}

function judge({ response, text }: Answered, clock: Clock): CallbackAnswer {
  const { statusCode: status = 0, headers } = response;
  const excerpt = cutText(stripText(text), WEBHOOK_EXCERPT_LENGTH_MAX);
  return {
    response_status: status,
    response_excerpt: excerpt === '' ? null : excerpt,
    error: errorOf(status),
    retry_after_seconds: parseRetryAfter(headers['retry-after'], clock.now()),
  };
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`;
  return `answered ${status}: only 2xx acknowledges`;
}

function failed(error: string, { status }: Begun = { status: null }): CallbackAnswer {
  return {
    response_status: status,
    response_excerpt: null,
    error: cutText(error, ERROR_LENGTH_MAX),
    retry_after_seconds: 0,
  };
}

const ERROR_LENGTH_MAX = 500;
