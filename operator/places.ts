/** The namespaces that the operator works in, besides those that it watches. */
import type { Config, Environment } from '../runtime/platform/config.ts';

export type Places = {
  /** Holds its Lease. */
  own: string;
  /** Holds the routes of delivery hosts, and so must hold the ImageService that they lead to. */
  delivery: string;
  /** May hold an ImageService. */
  runtime: readonly string[];
};

/** Outside a cluster the operator has no namespace of its own. */
export function placesOf(
  { deliveryNamespace, runtimeNamespaces }: Pick<Config, 'deliveryNamespace' | 'runtimeNamespaces'>,
  env: Environment,
): Places {
  const pod = env['POD_NAMESPACE'] || undefined;
  const delivery = deliveryNamespace ?? pod ?? 'tintype-delivery';
  const runtime = runtimeNamespaces.length > 0 ? runtimeNamespaces : [delivery];
  return { own: pod ?? 'default', delivery, runtime };
}
