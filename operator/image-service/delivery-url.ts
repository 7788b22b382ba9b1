/** The public URL of delivery at a host. Spec: Delivery host. */
import type { ImageServiceSpec } from './schema.ts';

export function deliveryUrl(
  { deliveryScheme = 'HTTPS', deliveryPublicPort: port }: ImageServiceSpec,
  host: string,
): string {
  return `${deliveryScheme.toLowerCase()}://${host}${port === undefined ? '' : `:${port}`}/`;
}
