import { readdirSync, readFileSync } from 'node:fs';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { readPage } from '../../config/generate/transforms/read-page.ts';
import { makePictures } from '../../config/generate/transforms-doc.ts';

const docs = new URL('../../docs/', import.meta.url);
const { parts } = readPage(readFileSync(new URL('transforms.md', docs), 'utf8'));
const examples = parts.flatMap((part) => part.examples);
const files = examples.map(({ file }) => file);
let made: Map<string, Buffer>;

beforeAll(async () => {
  made = await makePictures();
}, 300_000);

describe('docs/transforms.md', () => {
  it('shows every operation, and every picture that is kept', () => {
    const chains = examples.map(({ path }) => path).join('\n');
    for (const word of [
      'resize/',
      '/smart',
      '/fit',
      'crop/',
      'format/',
      'quality/',
      '/watermark/',
      'watermark:',
      'preset:',
    ]) {
      expect(chains).toContain(word);
    }
    const kept = readdirSync(new URL('pictures', docs)).filter((name) => !name.endsWith('.svg'));
    expect(kept.map((name) => `pictures/${name}`).toSorted()).toEqual([...files].toSorted());
  });

  it.each(files)('shows what the product answers: %s', async (file) => {
    const [shown, answered] = await Promise.all(
      [readFileSync(new URL(file, docs)), made.get(file) ?? Buffer.of()].map(pixelsOf),
    );
    expect(shown?.info, 'node config/generate/transforms-doc.ts makes it anew').toEqual(
      answered?.info,
    );
    expect(meanDifference(shown?.data, answered?.data)).toBeLessThan(1);
  });
});

async function pixelsOf(bytes: Buffer) {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const { format } = await sharp(bytes).metadata();
  return {
    data,
    info: { format, width: info.width, height: info.height, channels: info.channels },
  };
}

// Not byte by byte: processors may round differently.
function meanDifference(one: Buffer = Buffer.of(), other: Buffer = Buffer.of()): number {
  const sum = one.reduce((total, value, at) => total + Math.abs(value - (other[at] ?? 0)), 0);
  return sum / one.length;
}
