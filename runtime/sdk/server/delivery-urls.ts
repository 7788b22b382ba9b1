/**
 * Delivery URLs of a public project, each in its only canonical spelling, so that caches store an image once.
 * Spec: Delivery host, URL shapes; Transform operations.
 */
import { parseChain, printChain } from '../../core/delivery/chain.ts';
import {
  type Box,
  type FitMode,
  FORMATS,
  MODES,
  type ParsedChain,
  type RequestedFormat,
} from '../../core/delivery/operations.ts';
import {
  type DeliveryTarget,
  parseDeliveryUrl,
  printDeliveryPath,
} from '../../core/delivery/url.ts';
import {
  QUALITY_MAX,
  QUALITY_MIN,
  RESIZE_SIDE_PIXELS_MAX,
  RESIZE_SIDE_PIXELS_MIN,
} from '../../core/limits.ts';
import { readOrigin } from './address.ts';

/** The operations on an image, each at most once and in no particular order. */
export type Transform = {
  /** An omitted side follows the aspect ratio; `mode` needs both sides. */
  readonly resize?:
    | { readonly width: number; readonly height: number; readonly mode?: FitMode }
    | { readonly width: number; readonly height?: never; readonly mode?: never }
    | { readonly width?: never; readonly height: number; readonly mode?: never };
  /** In pixels of the source, applied before resize. */
  readonly crop?: Box;
  readonly format?: RequestedFormat;
  /** 1 to 100. */
  readonly quality?: number;
  /** The project's default preset, or a preset by id. */
  readonly watermark?: 'default' | (string & Record<never, never>);
  /** A resolution preset of the project. */
  readonly preset?: string;
};

export type DeliveryUrls = {
  derived(fileSlug: string, transform: Transform): string;
  original(fileSlug: string): string;
};

/** `origin` is the project's delivery host, such as https://shop.img.example. */
export function deliveryUrls(origin: string): DeliveryUrls {
  const base = readOrigin('origin', origin);
  return {
    derived: (file_slug, transform) => {
      const chain_text = transformChain(transform);
      return base + pathOf({ kind: 'derived', chain_text, file_slug });
    },
    original: (file_slug) => base + pathOf({ kind: 'originals', file_slug }),
  };
}

/**
 * The chain in the form that URLs, recipes and signed-url accept. Throws RangeError if no URL can
 * express it.
 */
export function transformChain(transform: Transform): string {
  if (typeof transform !== 'object' || transform === null) {
    throw new RangeError('a transform is an object, such as { resize: { width: 640 } }');
  }
  const unknown = askedOf(transform).find(([name]) => !Object.hasOwn(TAKES, name))?.[0];
  const text = unknown === undefined ? printParsable(transform) : undefined;
  if (text !== undefined) return text;
  const help = unknown === undefined ? helpWith(transform) : `there is no ${unknown}`;
  throw new RangeError(
    `${JSON.stringify(transform)} cannot be written as a transform chain: ${help}`,
  );
}

/** Accepts only a chain that parses back to itself: 9000 pixels, for example, would be invalid. */
function printParsable(transform: Transform): string | undefined {
  const text = printChain(asParsed(transform));
  const read = parseChain(text);
  return read !== undefined && printChain(read) === text ? text : undefined;
}

/** What each operation takes, for error messages. */
const TAKES: Readonly<Record<keyof Transform, string>> = {
  resize: `a width, a height or both, of ${RESIZE_SIDE_PIXELS_MIN} to ${RESIZE_SIDE_PIXELS_MAX} whole pixels; a mode (${words(MODES)}) needs both`,
  crop: 'x, y, width and height in whole pixels, a width and a height of 1 at least',
  format: words(FORMATS),
  quality: `a whole number of ${QUALITY_MIN} to ${QUALITY_MAX}`,
  watermark: "'default', or the id of a preset",
  preset: 'the name of a resolution preset of the project',
};

function words(names: Readonly<Record<string, string>>): string {
  return [...new Set(Object.values(names))].join(', ');
}

function askedOf(transform: Transform): [string, unknown][] {
  return Object.entries(transform).filter(([, value]) => value !== undefined);
}

function helpWith(transform: Transform): string {
  const wrong = askedOf(transform).find(
    ([name, value]) => printParsable({ [name]: value }) === undefined,
  );
  if (wrong === undefined) return `name one of ${Object.keys(TAKES).join(', ')}`;
  const [name] = wrong as [keyof Transform, unknown];
  return `${name} takes ${TAKES[name]}`;
}

function asParsed({ resize, watermark, ...rest }: Transform): ParsedChain {
  const { width = null, height = null, mode } = resize ?? {};
  const isNamed = watermark !== undefined && watermark !== 'default';
  return {
    ...rest,
    ...(resize === undefined ? {} : { resize: { width, height } }),
    // fill is the default mode of a box.
    ...(mode === undefined || mode === 'fill' ? {} : { mode }),
    ...(watermark === undefined ? {} : { watermark: { preset_id: isNamed ? watermark : null } }),
  };
}

function pathOf(target: DeliveryTarget): string {
  const path = printDeliveryPath(target);
  // A missing slug would be printed as the file `undefined`.
  const isNamed = typeof target.file_slug === 'string';
  if (isNamed && parseDeliveryUrl(path) !== undefined) return path;
  throw new RangeError(
    `no file is called ${JSON.stringify(target.file_slug)}: use the file_slug that the service returned`,
  );
}
