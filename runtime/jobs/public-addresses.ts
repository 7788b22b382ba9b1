/** The service's public addresses, if this process is configured with them. Spec: Public, status. */
import type { Config } from '../platform/config.ts';
import type { PublicAddresses } from './job.ts';

type AddressSettings = Pick<
  Config,
  'baseUrl' | 'deliveryRootDomain' | 'deliveryScheme' | 'deliveryPublicPort'
>;

/** Uses a reserved host for delivery, which no project can have. */
export function publicAddresses(config: AddressSettings): PublicAddresses | undefined {
  const { baseUrl, deliveryRootDomain, deliveryScheme, deliveryPublicPort: port } = config;
  if (baseUrl === undefined || deliveryRootDomain === undefined) return undefined;
  const host = `status.${deliveryRootDomain}${port === undefined ? '' : `:${port}`}`;
  return { api: baseUrl, delivery: `${deliveryScheme}://${host}` };
}
