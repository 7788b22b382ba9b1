/** Damage done to a sound file, always the same: cut at every sixteenth, single bits turned by a seed. */
import { seededRandom } from './pictures.ts';

export function* truncations(file: Buffer): Generator<Buffer> {
  for (let part = 0; part < 16; part += 1) {
    yield file.subarray(0, Math.floor((file.length * part) / 16));
  }
}

/** Half of the turned bits lie in the first bytes, where the header is. */
export function* bitFlips(
  file: Buffer,
  { count, seed, header = 256 }: { count: number; seed: number; header?: number },
): Generator<Buffer> {
  const random = seededRandom(seed);
  for (let index = 0; index < count; index += 1) {
    const damaged = Buffer.from(file);
    const reach = index % 2 === 0 ? Math.min(header, file.length) : file.length;
    for (let flip = 0; flip <= index % 3; flip += 1) {
      const at = Math.floor(random() * reach);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    }
    yield damaged;
  }
}
