/** `tintype env`: the running Tintype's addresses and its sample project's key, as shell exports. */
import { type Instance, requireInstance, sampleProject } from '../platform/instance.ts';

export async function env(options: { data: string }): Promise<void> {
  const instance = await requireInstance(options.data);
  const lines = Object.entries(variables(instance)).map(
    ([name, value]) => `export ${name}=${quote(value)}`,
  );
  process.stdout.write(`${lines.join('\n')}\n`);
}

function variables(instance: Instance): Record<string, string> {
  const { slug, key } = sampleProject(instance);
  return {
    TINTYPE_API: instance.api_url,
    TINTYPE_PROJECT: slug,
    TINTYPE_KEY: key,
    TINTYPE_DELIVERY: deliveryOrigin(instance, slug),
    TINTYPE_REQUEST_SIGNING_SECRET: instance.request_signing_secret,
  };
}

/**
 * As one word in any shell, whatever it contains: a secret is chosen by the person who runs this.
 */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Where a project's images are delivered: scheme, host and, unless it is the scheme's default,
 * port.
 */
export function deliveryOrigin(instance: Instance, projectSlug: string): string {
  const { delivery_scheme, delivery_root_domain, delivery_port } = instance;
  return new URL(`${delivery_scheme}://${projectSlug}.${delivery_root_domain}:${delivery_port}`)
    .origin;
}
