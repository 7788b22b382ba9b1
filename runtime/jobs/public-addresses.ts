/** Where the public finds the service, as far as a process was told. Spec: Public, status. */
import type { Config } from '../platform/config.ts';
import type { PublicAddresses } from './job.ts';

type Told = Pick<
  Config,
  'baseUrl' | 'deliveryRootDomain' | 'deliveryScheme' | 'deliveryPublicPort'
>;

/** Delivery by a host that is reserved, so that it is nobody's. */
export function publicAddresses(config: Told): PublicAddresses | undefined {
  const { baseUrl, deliveryRootDomain, deliveryScheme, deliveryPublicPort: port } = config;
  if (baseUrl === undefined || deliveryRootDomain === undefined) return undefined;
  const host = `status.${deliveryRootDomain}${port === undefined ? '' : `:${port}`}`;
  return { api: baseUrl, delivery: `${deliveryScheme}://${host}` };
}
