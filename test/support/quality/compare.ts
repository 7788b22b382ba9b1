/**
 * Compares how the product renders an image with a direct rendering: ingested and rendered from the source that a
 * render chooses, against one resize of the full upload, with the same encoder.
 */
import sharp, { type Sharp } from 'sharp';
import { parseChain } from '../../../runtime/core/delivery/chain.ts';
import type { SourceFacts } from '../../../runtime/core/delivery/geometry.ts';
import { planRender, type RenderPlan } from '../../../runtime/core/delivery/plan.ts';
import { chooseSource, type RenderSource } from '../../../runtime/core/delivery/render-source.ts';
import type { IngestResult } from '../../../runtime/worker/ingest/ingest-result.ts';
import { encode } from '../../../runtime/worker/render/encoders.ts';
import type { Decoder } from '../decoder.ts';
import { channelsOf, type Samples } from '../ssim.ts';
import { type Likeness, likeness, over, samplesOf, similarity } from './likeness.ts';
import type { Mode } from './modes.ts';

export type Subject = { name: string; family: string; content_type: string; bytes: Buffer };
export type Compared = Likeness & {
  subject: string;
  family: string;
  mode: string;
  format: string;
  /** The long edge of the half-way image that the render reads, or `original`. */
  read: string;
  /** The structural similarity of the two images after encoding. */
  encoded: number;
  /** The similarity of each encoded image to the direct rendering before encoding. */
  ours: number;
  straight: number;
};

export async function compareRenders(
  decoder: Decoder,
  subject: Subject,
  modes: readonly Mode[],
): Promise<Compared[]> {
  const result = await decoder.ingest(subject.bytes, subject.content_type);
  const pixels = await pixelsOf(subject, result);
  const compared: Compared[] = [];
  for (const mode of modes) {
    const plan = planOf(result, mode);
    // The output rules reject the chain, for example because it would enlarge too much.
    if (plan === undefined) continue;
    const chosen = chooseSource(plan, factsOf(result), mezzaninesOf(result));
    const { family, name } = subject;
    const { format } = plan;
    const read = chosen.object === 'original' ? 'original' : String(chosen.object.long_edge);
    const seen = await judge(decoder, { result, plan, chosen, pixels });
    compared.push({ subject: name, family, mode: mode.name, format, read, ...seen });
  }
  return compared;
}

type Work = { result: IngestResult; plan: RenderPlan; chosen: RenderSource; pixels: Samples };

/** Compares both as lossless PNGs and after encoding. */
async function judge(decoder: Decoder, { pixels, ...work }: Work) {
  const { plan } = work;
  const straight = await resizeStraight(pixels, plan);
  const render = async (format: RenderPlan['format']) => {
    const { bytes } = await renderChosen(decoder, { ...work, plan: { ...plan, format } });
    return samplesOf(bytes);
  };
  // Flattened onto white if the plan's own format has no alpha.
  const lossless = shown(await render('png'), plan);
  const before = likeness(lossless, straight);
  if (plan.format === 'png') {
    return { ...before, encoded: before.ssim, ours: before.ssim, straight: 1 };
  }
  const ours = await render(plan.format);
  const other = await samplesOf(await encode(opened(straight), plan).toBuffer());
  return {
    ...before,
    encoded: similarity(ours, other),
    ours: similarity(ours, straight),
    straight: similarity(other, straight),
  };
}

/** The upload's pixels, upright and in sRGB; for an SVG, the pixels of its raster grid. */
async function pixelsOf({ bytes, content_type }: Subject, result: IngestResult): Promise<Samples> {
  const isVector = content_type === 'image/svg+xml';
  const upload = (isVector ? result.mezzanines[0]?.bytes : undefined) ?? bytes;
  const samples = await samplesOf(upload);
  return channelsOf(samples) === 4 && isOpaque(samples) ? over(samples) : samples;
}

function planOf(result: IngestResult, { chain }: Mode): RenderPlan | undefined {
  const parsed = parseChain(chain(result));
  if (parsed === undefined) throw new Error(`no chain: ${chain(result)}`);
  return planRender({ source: factsOf(result), chain: parsed, watermark: null });
}

function factsOf({ content_type, width, height, ...known }: IngestResult): SourceFacts {
  const { has_alpha, is_lossless, focal_x, focal_y } = known;
  return { content_type, width, height, has_alpha, is_lossless, focal_x, focal_y };
}

function mezzaninesOf({ mezzanines }: IngestResult) {
  return mezzanines.map(({ bytes: _, ...mezzanine }, at) => ({
    ...mezzanine,
    object_key: String(at),
  }));
}

function renderChosen(
  decoder: Decoder,
  { result, plan, chosen }: { result: IngestResult; plan: RenderPlan; chosen: RenderSource },
) {
  const { object, ...place } = chosen;
  const bytes =
    object === 'original' ? result.master : result.mezzanines[Number(object.object_key)]?.bytes;
  if (bytes === undefined) throw new Error('a half-way image that there is not');
  return decoder.render({ plan: { ...plan, ...place }, source: bytes, watermark: null });
}

async function resizeStraight(pixels: Samples, plan: RenderPlan): Promise<Samples> {
  const { x: left, y: top, ...size } = plan.window;
  const resized = opened(pixels)
    .extract({ left, top, ...size })
    .resize({ ...plan.output, fit: 'fill' })
    .toColourspace('srgb');
  const { data, info } = await resized.raw().toBuffer({ resolveWithObject: true });
  return shown({ data, width: info.width, height: info.height }, plan);
}

function shown(samples: Samples, { format }: RenderPlan): Samples {
  return format === 'jpeg' ? over(samples) : samples;
}

function isOpaque({ data }: Samples): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return false;
  return true;
}

function opened(samples: Samples): Sharp {
  const { data, width, height } = samples;
  const raw = { width, height, channels: channelsOf(samples) };
  return sharp(data, { raw, limitInputPixels: false });
}
