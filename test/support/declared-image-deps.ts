/** The operator's dependencies for declared images, except the download. */
import { LRUCache } from 'lru-cache';
import type { ImageDeps } from '../../operator/cluster/declared-image.ts';
import { defaultPlans } from '../../runtime/core/plans.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createInProcessQueue } from '../../runtime/platform/queue/in-process.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';

export function declaredImageDeps(buckets: ImageDeps['buckets']): Omit<ImageDeps, 'download'> {
  return {
    ...{ buckets, queue: createInProcessQueue(), clock: systemClock, log },
    refused: new LRUCache({ max: 100 }),
    findSettings: async () => ({
      plans: defaultPlans,
      settings: {
        ...{ ingestMaxBytes: 1_000_000, mediaLibraryWrites: 'enabled' },
        ...{ avifUploads: 'enabled', svgUploads: 'enabled' },
      },
    }),
  };
}
