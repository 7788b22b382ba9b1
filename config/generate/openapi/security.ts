/** How callers authenticate. Spec: Authentication, Credentials. */
import type { Credential } from '../../../runtime/api/auth/principal.ts';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import type { Json } from './document.ts';

export const securitySchemes = {
  ApiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The key of a project. If both headers are sent, only this one counts.',
  },
  ApiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The same key as `Authorization: Bearer <key>`.',
  },
  BrowserSession: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token of the identity provider (RS256, with `exp` and `sub`).',
  },
  IdentityUserId: {
    type: 'apiKey',
    in: 'header',
    name: 'x-identity-user-id',
    description: 'The `sub` of the access token.',
  },
  RequestSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Request-Signature',
    description:
      'For writes by a session: the hex HMAC-SHA256, with the request signing secret, of `METHOD\\npathname\\n` and the bytes of the body. On the page at `/docs`, enter the secret itself: the page signs with it and never sends it.',
  },
  LibrarySession: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a library session, as `Authorization: Bearer ls1.…`.',
  },
  StorageEventSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Storage-Event-Notification-Signature',
    description:
      '`v1=` and the hex HMAC-SHA256 of the bytes of the body, with the storage event secret.',
  },
  PaymentProviderASignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Provider-A-Signature',
    description:
      '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `t`, a dot and the bytes of the body, at most 300 seconds old.',
  },
  PaymentProviderBSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'provider-b-signature',
    description: 'The hex HMAC-SHA256 of the bytes of the body.',
  },
  EmbedUrlSignature: {
    type: 'apiKey',
    in: 'query',
    name: 's',
    description: 'The signature in the `embed_url` of a library session.',
  },
} as const;

type Requirement = { readonly [Name in keyof typeof securitySchemes]?: readonly string[] };

/** Each of these is sufficient. */
export function securityOf({ method, auth }: Pick<Endpoint, 'method' | 'auth'>): readonly Json[] {
  const found = auth.flatMap((credential) => requirementsOf(method, credential));
  return found.filter(
    (one, index) =>
      found.findIndex((each) => JSON.stringify(each) === JSON.stringify(one)) === index,
  );
}

function requirementsOf(method: string, credential: Credential): readonly Requirement[] {
  switch (credential) {
    case 'none':
      return [];
    case 'storage_event_signature':
      return [{ StorageEventSignature: [] }];
    case 'provider_a_signature':
      return [{ PaymentProviderASignature: [] }];
    case 'provider_b_signature':
      return [{ PaymentProviderBSignature: [] }];
    case 'token':
    case 'token:browse':
    case 'token:browse_own':
    case 'token:upload':
      return [{ LibrarySession: [] }];
    case 'embed_url_signature':
      return [{ EmbedUrlSignature: [] }];
    case 'dash':
    case 'staff': {
      const session = { BrowserSession: [], IdentityUserId: [] };
      return [method === 'GET' ? session : { ...session, RequestSignature: [] }];
    }
    default:
      return [{ ApiKeyHeader: [] }, { ApiKey: [] }];
  }
}
