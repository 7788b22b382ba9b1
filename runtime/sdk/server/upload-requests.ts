/** Parses the requests of browsers to the upload handler. Spec: Upload helper codes. */
import { isRecord } from '../../core/json.ts';
import { COMPLETE_BODY_BYTES_MAX, COMPLETE_BODY_VALUES_MAX } from '../../core/limits.ts';
import { findJsonFault } from '../../core/unclear-json.ts';
import type {
  AbortRequest,
  CompleteRequest,
  PartsRequest,
  PrepareRequest,
  SentPart,
} from '../protocol.ts';
import { UploadRefusal } from './upload-refusal.ts';

export type HelperRequest = PrepareRequest | CompleteRequest | PartsRequest | AbortRequest;

/** Throws a refusal for anything invalid. */
export async function readUploadRequest(request: Request): Promise<HelperRequest> {
  // A form on another site can post text but not this type, which needs a preflight that is
  // refused.
  const isJson = /^application\/json\b/i.test(request.headers.get('content-type') ?? '');
  if (!isJson) throw invalid('Send JSON with Content-Type application/json.');
  const length = Number(request.headers.get('content-length') ?? 0);
  const text = length > COMPLETE_BODY_BYTES_MAX ? undefined : await readText(request);
  if (text === undefined) throw tooLarge();
  const read = parseRequest(parseJson(text));
  if (read === undefined) {
    throw invalid('Send { action: prepare | complete | parts | abort, … } as the client does.');
  }
  return read;
}

/** Undefined if the body is too long; then reading stops, as a body need not declare its length. */
async function readText(request: Request): Promise<string | undefined> {
  const reader = request.body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (;;) {
    const chunk = await reader?.read();
    if (chunk?.value === undefined) return text + decoder.decode();
    bytes += chunk.value.length;
    if (bytes > COMPLETE_BODY_BYTES_MAX) return undefined;
    text += decoder.decode(chunk.value, { stream: true });
  }
}

/** What is too large for any request is refused before it is parsed, which would take far longer. */
function parseJson(text: string): unknown {
  const fault = findJsonFault(text, COMPLETE_BODY_VALUES_MAX);
  if (fault?.is === 'large') throw invalid(`Send less: ${fault.what}.`);
  if (fault !== undefined) throw invalidJson(`The body could be misread: ${fault.what}.`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson('The body is not valid JSON.', cause);
  }
}

function invalidJson(message: string, cause?: unknown): UploadRefusal {
  return new UploadRefusal({ status: 400, code: 'invalid_json', message, cause });
}

function parseRequest(body: unknown): HelperRequest | undefined {
  if (!isRecord(body)) return undefined;
  const { action } = body;
  if (action === 'prepare') return parsePrepare(body);
  const { token, parts } = body;
  // A token that is no text is handled like a forged one.
  const known = typeof token === 'string' ? token : '';
  if (action === 'parts' || action === 'abort') return { action, token: known };
  if (action !== 'complete') return undefined;
  if (parts === undefined) return { action, token: known };
  return Array.isArray(parts) && parts.every(isPart) ? { action, token: known, parts } : undefined;
}

function parsePrepare(body: Readonly<Record<string, unknown>>): PrepareRequest | undefined {
  const { idempotency_key, route, file, input, part_size } = body;
  if (idempotency_key !== undefined && typeof idempotency_key !== 'string') return undefined;
  if (route !== undefined && typeof route !== 'string') return undefined;
  if (part_size !== undefined && typeof part_size !== 'number') return undefined;
  if (!isRecord(file)) return undefined;
  const { name, content_type, size_bytes } = file;
  const isNamed = typeof name === 'string' && typeof content_type === 'string';
  if (!isNamed || typeof size_bytes !== 'number') return undefined;
  if (!Number.isSafeInteger(size_bytes) || size_bytes < 1) {
    throw invalid(
      'The file is empty, or its size_bytes is not a whole number. Choose another file.',
    );
  }
  // Media types are case-insensitive; routes and middleware compare them as text.
  const facts = { name, content_type: content_type.toLowerCase(), size_bytes };
  return { action: 'prepare', idempotency_key, route, file: facts, input, part_size };
}

function isPart(value: unknown): value is SentPart {
  return isRecord(value) && Number.isSafeInteger(value['part_number']) && isText(value['etag']);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function invalid(message: string): UploadRefusal {
  return new UploadRefusal({ status: 400, code: 'invalid_request', message });
}

function tooLarge(): UploadRefusal {
  return new UploadRefusal({
    status: 413,
    code: 'payload_too_large',
    message: 'The body is too large.',
    details: { max_bytes: COMPLETE_BODY_BYTES_MAX },
  });
}
