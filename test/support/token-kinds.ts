/** Every kind of token and signature that core creates, each with its verifier. Spec: Authentication. */
import { parseCursor, printCursor } from '../../runtime/core/cursor.ts';
import { isApiKey, newApiKey } from '../../runtime/core/signing/api-key.ts';
import { signDeliveryUrl, verifyDeliveryUrl } from '../../runtime/core/signing/delivery-url.ts';
import { signEmbedUrl, verifyEmbedUrl } from '../../runtime/core/signing/embed-url.ts';
import { signHelperToken, verifyHelperToken } from '../../runtime/core/signing/helper-token.ts';
import {
  signLibrarySession,
  verifyLibrarySession,
} from '../../runtime/core/signing/library-session.ts';
import { signProviderA, verifyProviderA } from '../../runtime/core/signing/provider-a.ts';
import { signProviderB, verifyProviderB } from '../../runtime/core/signing/provider-b.ts';
import { signRequest, verifyRequest } from '../../runtime/core/signing/request-signature.ts';
import { signStorageEvent, verifyStorageEvent } from '../../runtime/core/signing/storage-event.ts';
import { signUploadUrl, verifyUploadUrl } from '../../runtime/core/signing/upload-url.ts';
import { signWebhook, verifyWebhook } from '../../runtime/core/signing/webhook.ts';

/** A new token and its verifier. */
export type Kind = { name: string; token: string; verifies(token: string): boolean };

const exp = 1_800_000_000;
const now_seconds = exp - 60;
const t = now_seconds;
const body = Buffer.from(
  '{"id":"a","event":"b","created_at":"2026-11-20T00:00:00.000Z","data":{}}',
);

/**
 * The kinds whose format Tintype defines. Each uses the key that `keyFor` returns for its prefix.
 */
export function ownKinds(keyFor: (prefix: string) => Uint8Array): Kind[] {
  const delivery = { secret: keyFor('deliv1'), project_id: 'prj_1', kid: 'k1', exp, path: '/f/a' };
  const upload = { key: keyFor('upl1'), upload_id: 'upl_1', exp };
  const embed = {
    key: keyFor('embed1'),
    project: 'shop',
    library: 'default',
    o: 'https://a.b',
    exp,
  };
  const library = { id: 'k1', key: keyFor('ls1') };
  const scope = { route: '/v1/projects', project_id: 'prj_1', sort: 'newest', filters: '' };
  return [
    {
      name: 'delivery URL',
      token: signDeliveryUrl(delivery),
      verifies: (sig) => verifyDeliveryUrl({ ...delivery, sig, now_seconds }) === 'valid',
    },
    {
      name: 'upload URL',
      token: signUploadUrl(upload),
      verifies: (sig) => verifyUploadUrl({ ...upload, keys: [upload.key], exp: String(exp), sig }),
    },
    {
      name: 'embed URL',
      token: signEmbedUrl(embed),
      verifies: (s) => {
        const query = { o: embed.o, exp: String(exp), kid: 'k1', s };
        const keys = [{ id: 'k1', key: embed.key }];
        return verifyEmbedUrl({ ...embed, keys, query, now_seconds }) === 'valid';
      },
    },
    {
      name: 'library session',
      token: signLibrarySession(library, {
        session_id: 'lss_1',
        project_id: 'prj_1',
        library: 'default',
        library_id: null,
        folder: '',
        permissions: ['browse'],
        origin: 'https://a.b',
        subject_mac: 'abc',
        key_id: 'key_1',
        max_file_bytes: 1,
        max_uploads: 1,
        iat: t,
        exp,
      }),
      verifies: (token) => verifyLibrarySession([library], token, now_seconds).outcome === 'valid',
    },
    {
      name: 'cursor',
      token: printCursor([keyFor('cur1')], scope, ['2026-11-20', 'upl_1']),
      verifies: (token) => isParsed(() => parseCursor([keyFor('cur1')], scope, token)),
    },
  ];
}

/** The kinds whose format the specification fixes. Each has its own secret. */
export function specifiedKinds(): Kind[] {
  const request = { method: 'POST', pathname: '/v1/projects', body };
  return [
    {
      name: 'webhook',
      token: signWebhook({ secrets: ['webhook-secret'], t, body }),
      verifies: (header) =>
        verifyWebhook({ secret: 'webhook-secret', header, body, now_seconds }).valid,
    },
    {
      name: 'request signature',
      token: signRequest('request-secret', request),
      verifies: (token) => verifyRequest('request-secret', request, token),
    },
    {
      name: 'storage event',
      token: signStorageEvent('storage-secret', body),
      verifies: (token) => verifyStorageEvent('storage-secret', body, token),
    },
    {
      name: 'provider A',
      token: signProviderA('a-secret', t, body),
      verifies: (header) => verifyProviderA({ secret: 'a-secret', header, body, now_seconds }),
    },
    {
      name: 'provider B',
      token: signProviderB('b-secret', body),
      verifies: (token) => verifyProviderB('b-secret', body, token),
    },
  ];
}

/** An API key, and the tokens that are signed with it. */
export function keyKinds(): Kind[] {
  const api_key = newApiKey().plaintext_secret;
  const state = { route: 'a', metadata: null };
  return [
    { name: 'API key', token: api_key, verifies: isApiKey },
    {
      name: 'helper token',
      token: signHelperToken({ api_key, upload_id: 'upl_1', exp, state }),
      verifies: (token) => verifyHelperToken(api_key, token, now_seconds).outcome === 'valid',
    },
  ];
}

function isParsed(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

/** Returns the token and every part of it that a verifier could mistake for its own signature. */
export function offersOf(token: string): string[] {
  const parts = token.split(/[.,=|]/);
  return [...new Set([token, ...parts, ...parts.map((part) => `v1=${part}`)])];
}
