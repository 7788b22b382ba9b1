import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readPage } from '../../config/generate/transforms/read-page.ts';
import { makePictures } from '../../config/generate/transforms-doc.ts';
import { copyMigrated } from '../contract/support/tintype.ts';
import { meanDifference, pixelsOf } from '../support/picture-difference.ts';

const docs = new URL('../../docs/', import.meta.url);
const page = new URL('../../docs/transforms.md', import.meta.url);
const { parts } = readPage(readFileSync(page, 'utf8'));
const examples = parts.flatMap((part) => part.examples);
const files = examples.map(({ file }) => file);
let made: Map<string, Buffer>;

beforeAll(async () => {
  made = await makePictures(copyMigrated);
}, 300_000);

describe('docs/transforms.md', () => {
  it('shows every operation, and uses every stored picture', () => {
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

  it.each(files)('shows the picture that the product renders: %s', async (file) => {
    const [shown, answered] = await Promise.all(
      [readFileSync(new URL(file, docs)), made.get(file) ?? Buffer.of()].map(pixelsOf),
    );
    expect(shown?.info, 'node config/generate/transforms-doc.ts makes it anew').toEqual(
      answered?.info,
    );
    expect(meanDifference(shown?.data, answered?.data)).toBeLessThan(1);
  });
});
