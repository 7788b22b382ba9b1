/**
 * The model of the package nsfwjs, run by WebAssembly: five shares that describe an image and add up to one. The
 * package's own loader is not used, because it fetches and takes seconds: the weights are read from the package. Spec:
 * File (status), the automatic scanner.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { io, ready, setBackend, type Tensor, tensor4d, tidy } from '@tensorflow/tfjs-core';
import { loadLayersModel } from '@tensorflow/tfjs-layers';
import sharp from 'sharp';
import { z } from 'zod';

/** Returns the score of each class. */
export type NsfwModel = { scan(picture: Uint8Array): Promise<Record<string, number>> };

const CLASSES = ['drawing', 'hentai', 'neutral', 'porn', 'sexy'] as const;
const SIDE = 224;
const require = createRequire(import.meta.url);

const modelFile = z.object({
  modelTopology: z.looseObject({}),
  weightsManifest: z.tuple([z.object({ weights: z.array(z.any()) })]),
});

export async function openNsfwModel(): Promise<NsfwModel> {
  setWasmPaths(join(dirname(require.resolve('@tensorflow/tfjs-backend-wasm')), '/'));
  await setBackend('wasm');
  await ready();
  const model = await loadLayersModel(io.fromMemory(readWeights()));
  return {
    scan: async (picture) => {
      const input = tensor4d(await pixelsOf(picture), [1, SIDE, SIDE, 3]);
      const shares = tidy(() => model.predict(input) as Tensor);
      try {
        return scoresOf([...(await shares.data())]);
      } finally {
        input.dispose();
        shares.dispose();
      }
    },
  };
}

function readWeights(): io.ModelArtifacts {
  const folder = join(dirname(require.resolve('nsfwjs')), 'models/mobilenet_v2');
  const { modelTopology, weightsManifest } = modelFile.parse(require(join(folder, 'model.min.js')));
  const shard = z.string().parse(require(join(folder, 'group1-shard1of1.min.js')));
  const weightData = new Uint8Array(Buffer.from(shard, 'base64')).buffer;
  return { modelTopology, weightSpecs: weightsManifest[0].weights, weightData };
}

/** Values from 0 to 1, as in training; the image is squeezed into a square. */
async function pixelsOf(picture: Uint8Array): Promise<Float32Array> {
  const pixels = await sharp(picture)
    .resize(SIDE, SIDE, { fit: 'fill' })
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer();
  return Float32Array.from(pixels, (value) => value / 255);
}

/** Two of the five classes count towards the flag `nudity`. */
function scoresOf(shares: readonly number[]): Record<string, number> {
  const of = Object.fromEntries(CLASSES.map((name, index) => [name, round(shares[index] ?? 0)]));
  const [, hentai = 0, , porn = 0] = shares;
  return { nudity: round(hentai + porn), ...of };
}

function round(share: number): number {
  return Math.min(1, Math.max(0, Math.round(share * 10_000) / 10_000));
}
