/** The configuration of an API process, from an environment with the required variables. */
import { type ApiConfig, apiFields } from '../../runtime/api/serve.ts';
import { type Environment, parseConfig } from '../../runtime/platform/config.ts';

const key = (fill: number) => `t1:${Buffer.alloc(32, fill).toString('base64')}`;

export function apiConfig(environment: Environment = {}): ApiConfig {
  const least = {
    TINTYPE_BASE_URL: 'https://api.test',
    TINTYPE_DELIVERY_ROOT_DOMAIN: 'images.test',
    TINTYPE_IDENTITY_ISSUER: 'https://id.test',
    TINTYPE_IDENTITY_JWKS_URL: 'https://id.test/jwks.json',
    TINTYPE_REQUEST_SIGNING_SECRET: 'a-secret-of-the-dashboard',
    TINTYPE_STORAGE_EVENT_SECRET: 'a-secret-of-the-storage',
    TINTYPE_KEY_ENCRYPTION_KEYS: key(9),
    TINTYPE_TOKEN_KEYS: key(1),
  };
  return parseConfig({ ...least, ...environment }, apiFields);
}
