/**
 * The source of a declared image's bytes: a ConfigMap, a Secret, or a public URL with its digest. Spec: Watermark
 * preset.
 */
import type { Reason } from '../conditions.ts';
import type { KubeClient } from '../kube/client.ts';
import { bytesOf, configMaps, secrets } from '../kube/core-types.ts';
import type { WatermarkPresetSpec } from '../watermark-preset/schema.ts';

export type ImageSpec = NonNullable<WatermarkPresetSpec['image']>;

export type Finding = { reason: Reason; message: string };

export type Download = (url: string) => Promise<{ bytes: Buffer } | { fault: string }>;

const holders = { ConfigMap: configMaps, Secret: secrets } as const;

export async function readImage(
  { client, download }: { client: KubeClient; download: Download },
  image: ImageSpec,
  namespace: string,
): Promise<Buffer | Finding> {
  if (image.url !== undefined) {
    const answer = await download(image.url);
    if ('bytes' in answer) return answer.bytes;
    return {
      reason: 'ImageNotFound',
      message: `\`spec.image.url\` returned no image: ${answer.fault}`,
    };
  }
  const kind = image.configMapRef === undefined ? 'Secret' : 'ConfigMap';
  const { name, key } = image.configMapRef ?? image.secretRef ?? { name: '', key: '' };
  const answer = await client.get(holders[kind], { name, namespace });
  if (!answer.ok && answer.failure.reason !== 'NotFound') throw answer.failure;
  const bytes = answer.ok ? bytesOf(answer.value, { kind, key }) : undefined;
  if (bytes !== undefined) return bytes;
  const missing = answer.ok ? `has no key '${key}'` : 'does not exist';
  return { reason: 'ImageNotFound', message: `the ${kind} '${name}' ${missing}` };
}
