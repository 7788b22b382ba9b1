/** The namespaces that the operator works in beside those that it watches. */
import type { Config, Environment } from '../runtime/platform/config.ts';

export type Places = {
  /** Its Lease is there. */
  own: string;
  /** The routes of delivery hosts are there, and so has to be the ImageService that they lead to. */
  delivery: string;
  /** Where an ImageService may stand. */
  runtime: readonly string[];
};

/** Outside of a cluster the operator has no namespace of its own. */
export function placesOf(
  { deliveryNamespace, runtimeNamespaces }: Pick<Config, 'deliveryNamespace' | 'runtimeNamespaces'>,
  env: Environment,
): Places {
  const pod = env['POD_NAMESPACE'] || undefined;
  const delivery = deliveryNamespace ?? pod ?? 'tintype-delivery';
  const runtime = runtimeNamespaces.length > 0 ? runtimeNamespaces : [delivery];
  return { own: pod ?? 'default', delivery, runtime };
}
