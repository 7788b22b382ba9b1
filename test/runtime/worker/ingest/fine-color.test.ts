import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import { drawing, over, type Picture, photograph } from '../../../support/pictures.ts';

const decoder = useDecoder();

async function chromaOfHalfWay(picture: Picture, chromaSubsampling: string): Promise<string[]> {
  const upload = await over(picture).jpeg({ chromaSubsampling }).toBuffer();
  const { mezzanines } = await decoder.ingest(upload, 'image/jpeg');
  const seen = await Promise.all(mezzanines.map(({ bytes }) => sharp(bytes).metadata()));
  return seen.map((metadata) => metadata.chromaSubsampling ?? '');
}

describe('the mezzanine images of a JPEG', () => {
  it('keep 4:2:0 chroma for a photograph', async () => {
    expect(await chromaOfHalfWay(photograph(1100, 800), '4:2:0')).toEqual(['4:2:0', '4:2:0']);
  });

  it('have 4:4:4 chroma if colors change from pixel to pixel, as in drawings', async () => {
    expect(await chromaOfHalfWay(drawing(2100, 800), '4:2:0')).toEqual(['4:4:4', '4:4:4', '4:4:4']);
  });

  it('keep the 4:4:4 chroma of the upload', async () => {
    expect(await chromaOfHalfWay(photograph(1100, 800), '4:4:4')).toEqual(['4:4:4', '4:4:4']);
  });
});
