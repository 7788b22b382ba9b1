/** Every render mode of the grammar, at sizes near those where the render switches to another half-way image. */
import type { Size } from '../../../runtime/core/delivery/geometry.ts';

export type Mode = { name: string; chain(source: Size): string };

const at = (share: number, side: number) => Math.floor(share * side);

export const modes: readonly Mode[] = [
  { name: 'width only', chain: () => 'resize/440x' },
  { name: 'height only', chain: () => 'resize/x330' },
  { name: 'fit', chain: () => 'resize/480x480/fit' },
  { name: 'fit, the most of the smallest half-way image', chain: () => 'resize/450x450/fit' },
  { name: 'fit, the most of the middle half-way image', chain: () => 'resize/640x640/fit' },
  { name: 'fit, the most of the largest half-way image', chain: () => 'resize/1280x1280/fit' },
  { name: 'fit, from the original', chain: () => 'resize/1400x1400/fit' },
  { name: 'fill', chain: () => 'resize/360x360' },
  { name: 'fill, a banner', chain: () => 'resize/640x160' },
  { name: 'fill, a thumbnail', chain: () => 'resize/96x96' },
  { name: 'smart', chain: () => 'resize/300x420/smart' },
  {
    name: 'crop and resize',
    chain: ({ width, height }) =>
      `crop/${at(0.23, width)},${at(0.17, height)},${at(0.51, width)},${at(0.57, height)}/resize/320x`,
  },
  {
    name: 'crop, small and at an odd place',
    chain: ({ width, height }) =>
      `crop/${at(0.311, width)},${at(0.477, height)},${at(0.149, width)},${at(0.133, height)}/resize/131x`,
  },
  {
    name: 'enlarged',
    chain: ({ width, height }) =>
      `crop/${at(0.4, width)},${at(0.4, height)},203,151/resize/400x300/smart`,
  },
  { name: 'to JPEG', chain: () => 'resize/450x/format/jpeg' },
  { name: 'to WebP', chain: () => 'resize/450x/format/webp' },
  { name: 'to AVIF', chain: () => 'resize/450x/format/avif' },
  { name: 'to PNG', chain: () => 'resize/450x/format/png' },
];
