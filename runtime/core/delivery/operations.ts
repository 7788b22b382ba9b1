// The transform operations as one table, in the specification's order. Spec: Delivery host, Transform operations. Each
// row parses its own segments and prints them in canonical form; chain.ts checks which operations may be combined.
import {
  CROP_COORDINATE_PX_MAX,
  QUALITY_MAX,
  QUALITY_MIN,
  RESIZE_SIDE_PIXELS_MAX,
  RESIZE_SIDE_PIXELS_MIN,
  RESOLUTION_PRESET_NAME_PATTERN,
} from '../limits.ts';

/** A box in pixels of the oriented source; `x` and `y` are measured from its top left. */
export type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

/** `fill` covers the box around the center, `smart` around the focal point; `fit` stays inside. */
export type FitMode = 'fill' | 'smart' | 'fit';
/** The formats that a chain may request. */
export type RequestedFormat = 'webp' | 'avif' | 'jpeg' | 'png';

/**
 * A parsed transform chain. An absent field was not requested. `resize` has null for an empty side;
 * `watermark` is null when no preset is named.
 */
export type ParsedChain = {
  readonly resize?: { readonly width: number | null; readonly height: number | null };
  readonly mode?: FitMode;
  readonly crop?: Box;
  readonly format?: RequestedFormat;
  readonly quality?: number;
  readonly watermark?: { readonly preset_id: string | null };
  readonly preset?: string;
};

/** An operation's name is its field in the chain. */
export type OperationName = keyof ParsedChain;

export type Operation = {
  readonly name: OperationName;
  /**
   * Parses the operation at the front of `segments`; undefined when it is another operation.
   * `previous` is the operation just before.
   */
  parse(segments: readonly string[], previous: OperationName | undefined): Read | undefined;
  /** The operation's canonical segments; empty when the chain does not have it. */
  print(chain: ParsedChain): readonly string[];
};

type Read = { readonly found: ParsedChain; readonly length: number };

export const operations: readonly Operation[] = [
  { name: 'resize', parse: parseResize, print: printResize },
  { name: 'mode', parse: parseMode, print: ({ mode }) => given(mode, (word) => [word]) },
  { name: 'crop', parse: parseCrop, print: printCrop },
  {
    name: 'format',
    parse: parseFormat,
    print: ({ format }) => given(format, (f) => ['format', f]),
  },
  { name: 'quality', parse: parseQuality, print: printQuality },
  { name: 'watermark', parse: parseWatermark, print: printWatermark },
  {
    name: 'preset',
    parse: parsePreset,
    print: ({ preset }) => given(preset, (p) => [`preset:${p}`]),
  },
];

// A preset's id as a URL may write it. Wider than the ids that we generate, because an unknown
// preset is not a fault of the chain (the default applies).
export const WATERMARK_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

function parseResize([name, size]: readonly string[]): Read | undefined {
  const sides = name === 'resize' ? size?.split('x') : undefined;
  if (sides?.length !== 2 || sides.every((side) => side === '')) return undefined;
  const [width, height] = sides.map((side) => (side === '' ? null : parseSide(side)));
  if (width === undefined || height === undefined) return undefined;
  return { found: { resize: { width, height } }, length: 2 };
}

function parseSide(text: string): number | undefined {
  return parseWithin(text, RESIZE_SIDE_PIXELS_MIN, RESIZE_SIDE_PIXELS_MAX);
}

function printResize({ resize }: ParsedChain): readonly string[] {
  return given(resize, ({ width, height }) => ['resize', `${width ?? ''}x${height ?? ''}`]);
}

/** The words that select a mode. */
export const MODES: Readonly<Record<string, FitMode>> = {
  fill: 'fill',
  crop: 'fill',
  smart: 'smart',
  fit: 'fit',
};

// Only right after resize. `fit` may be followed by the mode itself: fit/smart means smart.
function parseMode(
  segments: readonly string[],
  previous: OperationName | undefined,
): Read | undefined {
  if (previous !== 'resize') return undefined;
  if (segments[0] !== 'fit') return readMode(segments, 0);
  return readMode(segments, 1) ?? { found: { mode: 'fit' }, length: 1 };
}

// `crop` followed by a box is the operation, not the mode.
function readMode(segments: readonly string[], at: number): Read | undefined {
  const rest = segments.slice(at);
  if (parseCrop(rest) !== undefined) return undefined;
  const word = rest[0] ?? '';
  const mode = Object.hasOwn(MODES, word) ? MODES[word] : undefined;
  return mode && { found: { mode }, length: at + 1 };
}

function parseCrop([name, box]: readonly string[]): Read | undefined {
  const numbers = name === 'crop' ? box?.split(',').map(parseBoxNumber) : undefined;
  const [x, y, width, height, ...more] = numbers ?? [];
  if (x === undefined || y === undefined || more.length > 0) return undefined;
  if (width === undefined || height === undefined) return undefined;
  return { found: { crop: { x, y, width, height } }, length: 2 };
}

// x, y, width, height: a box with a width or height of 0 shows nothing.
function parseBoxNumber(text: string, at: number): number | undefined {
  return parseWithin(text, at < 2 ? 0 : 1, CROP_COORDINATE_PX_MAX);
}

function printCrop({ crop }: ParsedChain): readonly string[] {
  return given(crop, ({ x, y, width, height }) => ['crop', [x, y, width, height].join(',')]);
}

/** The words that select a format. */
export const FORMATS: Readonly<Record<string, RequestedFormat>> = {
  webp: 'webp',
  avif: 'avif',
  jpeg: 'jpeg',
  jpg: 'jpeg',
  png: 'png',
};

function parseFormat([name, word = '']: readonly string[]): Read | undefined {
  const format = name === 'format' && Object.hasOwn(FORMATS, word) ? FORMATS[word] : undefined;
  return format && { found: { format }, length: 2 };
}

function parseQuality([name, text = '']: readonly string[]): Read | undefined {
  const quality = name === 'quality' ? parseWithin(text, QUALITY_MIN, QUALITY_MAX) : undefined;
  return quality === undefined ? undefined : { found: { quality }, length: 2 };
}

function printQuality({ quality }: ParsedChain): readonly string[] {
  return given(quality, (value) => ['quality', String(value)]);
}

function parseWatermark([segment = '']: readonly string[]): Read | undefined {
  if (segment === 'watermark') return { found: { watermark: { preset_id: null } }, length: 1 };
  const preset_id = parseNamed(segment, 'watermark:', WATERMARK_ID);
  return preset_id === undefined ? undefined : { found: { watermark: { preset_id } }, length: 1 };
}

function printWatermark({ watermark }: ParsedChain): readonly string[] {
  return given(watermark, ({ preset_id }) => [
    preset_id === null ? 'watermark' : `watermark:${preset_id}`,
  ]);
}

function parsePreset([segment = '']: readonly string[]): Read | undefined {
  const preset = parseNamed(segment, 'preset:', RESOLUTION_PRESET_NAME_PATTERN);
  return preset === undefined ? undefined : { found: { preset }, length: 1 };
}

function parseNamed(segment: string, prefix: string, shape: RegExp): string | undefined {
  const name = segment.startsWith(prefix) ? segment.slice(prefix.length) : '';
  return shape.test(name) ? name : undefined;
}

// One spelling per number: no sign, no leading zero, no space.
function parseWithin(text: string, min: number, max: number): number | undefined {
  if (!/^(?:0|[1-9][0-9]{0,8})$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}

function given<Value>(
  value: Value | undefined,
  print: (value: Value) => readonly string[],
): readonly string[] {
  return value === undefined ? [] : print(value);
}
