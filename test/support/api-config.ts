/** The configuration of an API process, from an environment with the required variables. */
import { type ApiConfig, apiFields } from '../../runtime/api/serve.ts';
import { type Environment, parseConfig } from '../../runtime/platform/config.ts';

const KEY = `t1:${Buffer.alloc(32, 1).toString('base64')}`;

export function apiConfig(environment: Environment = {}): ApiConfig {
  const least = {
    TINTYPE_BASE_URL: 'https://api.test',
    TINTYPE_DELIVERY_ROOT_DOMAIN: 'images.test',
    TINTYPE_IDENTITY_ISSUER: 'https://id.test',
    TINTYPE_IDENTITY_JWKS_URL: 'https://id.test/jwks.json',
    TINTYPE_REQUEST_SIGNING_SECRET: 'a-long-random-text-of-the-dashboard',
    TINTYPE_STORAGE_EVENT_SECRET: 'a-long-random-text-of-the-storage',
    TINTYPE_KEY_ENCRYPTION_KEYS: KEY,
    TINTYPE_TOKEN_KEYS: KEY,
  };
  return parseConfig({ ...least, ...environment }, apiFields);
}
