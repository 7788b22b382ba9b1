/**
 * The upload proxy, which is not in the endpoint table: its URL is the credential. Spec: Uploads (proxy.put_url).
 */
import type { ApiErrorCode } from '../../../runtime/core/errors.ts';
import { PROXY_UPLOAD_PATH } from '../../../runtime/core/signing/upload-url.ts';
import type { Json } from './document.ts';
import { idSchema } from './parameters.ts';
import { answerHeaders, refusal, refusalResponses } from './refusals.ts';
import { unreadStatuses } from './unread.ts';

const CODES: readonly ApiErrorCode[] = [
  'invalid_request',
  'invalid_signature',
  'signature_expired',
  'upload_not_found',
  'upload_not_pending',
  'ingest_size_mismatch',
  'upload_expired',
  'length_required',
  'payload_too_large',
  'project_suspended',
  'content_type_mismatch',
  'sha256_mismatch',
  'storage_unavailable',
  'query_timeout',
  'internal',
];

export const proxyRefusals = CODES.map(refusal);

const query = (name: string, pattern: string): Json => ({
  name,
  in: 'query',
  required: true,
  description: 'As in the URL.',
  schema: { type: 'string', pattern },
});

export const proxyPath: Json = {
  [`${PROXY_UPLOAD_PATH}{id}`]: {
    put: {
      operationId: 'putUploadBytes',
      tags: ['Uploads'],
      summary: 'Send the bytes through the proxy',
      description:
        'Use `proxy.put_url` of a session with `mode: "proxy"` exactly as it was returned. The request also completes the session. Open to every origin.',
      security: [],
      parameters: [
        {
          name: 'id',
          in: 'path',
          required: true,
          description: 'The id of the upload session.',
          schema: idSchema('upl'),
        },
        query('exp', '^[0-9]{1,16}$'),
        query('sig', '^[A-Za-z0-9_-]{43}$'),
      ],
      requestBody: {
        required: true,
        description:
          'Exactly `size_bytes` bytes, with the session’s Content-Type and a Content-Length.',
        content: { 'image/*': { schema: { type: 'string', format: 'binary' } } },
      },
      responses: {
        204: { description: 'Stored and completed.', headers: answerHeaders },
        ...refusalResponses(proxyRefusals),
        ...unreadStatuses,
      },
    },
  },
};
