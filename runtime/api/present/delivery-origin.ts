/** The origin that serves a project's images, as parts of its delivery URLs. Spec: Project (default_delivery_host). */
import type { ApiSettings } from '../deps.ts';

export function deliveryOrigin(
  settings: ApiSettings,
  projectSlug: string,
): { scheme: 'http' | 'https'; host: string; port: number | null } {
  return {
    scheme: settings.deliveryScheme,
    host: `${projectSlug}.${settings.deliveryRootDomain}`,
    port: settings.deliveryPublicPort ?? null,
  };
}
