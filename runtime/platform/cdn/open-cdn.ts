/** Opens the CDN that the environment names. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { AwsIdentity } from './aws-signature.ts';
import { type Cdn, noCdn } from './cdn.ts';
import type { CdnApi } from './cdn-api.ts';
import { createCloudflareApi } from './cloudflare.ts';
import { createCloudFrontApi } from './cloudfront.ts';
import { createFastlyApi } from './fastly.ts';
import { createHttpPurgeApi } from './http-purge.ts';
import { createRateLimitedCdn } from './rate-limited-cdn.ts';
import type { RateLimit } from './rate-limiter.ts';

export type CdnConfig = Pick<
  Config,
  | 'cdn'
  | 'cdnUrl'
  | 'cdnZone'
  | 'cdnToken'
  | 'cdnMethod'
  | 'cdnCallsPerMinute'
  | 'deliveryRootDomain'
>;

export function openCdn(config: CdnConfig, clock: Clock): Cdn {
  const api = openApi(config, clock);
  return api === undefined ? noCdn : createRateLimitedCdn(api, { clock });
}

function openApi(config: CdnConfig, clock: Clock): CdnApi | undefined {
  const { cdnZone: zone = '', cdnToken: token = '', cdnUrl } = config;
  const [url] = cdnUrl;
  const of = { token, url, rate: rateOf(config) };
  switch (config.cdn) {
    case 'none':
      return undefined;
    case 'cloudflare':
      return createCloudflareApi({ ...of, zone });
    case 'fastly':
      return createFastlyApi({ ...of, service: zone });
    case 'cloudfront':
      return createCloudFrontApi({ ...of, distribution: zone, identity: awsIdentity(), clock });
    case 'http-purge':
      return createHttpPurgeApi({
        urls: cdnUrl,
        method: config.cdnMethod,
        token: config.cdnToken,
        rootDomain: config.deliveryRootDomain ?? '',
      });
  }
}

/**
 * Credentials from the usual AWS variables, profiles and roles; their packages are loaded only
 * here, so that other CDNs start faster.
 */
function awsIdentity(): AwsIdentity {
  let provider: Promise<AwsIdentity> | undefined;
  return async () => {
    provider ??= import('@aws-sdk/credential-provider-node').then((aws) => aws.defaultProvider());
    return (await provider)();
  };
}

/** The burst equals one minute's calls. */
function rateOf({ cdnCallsPerMinute }: CdnConfig): RateLimit | undefined {
  if (cdnCallsPerMinute === undefined) return undefined;
  return { burst: cdnCallsPerMinute, per_minute: cdnCallsPerMinute };
}
