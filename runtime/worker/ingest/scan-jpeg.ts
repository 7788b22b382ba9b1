/**
 * The JPEG header: segments up to the first scan. Accepted are Huffman-coded sequential and progressive images of 8
 * bits with 1, 3 or 4 components; further images behind the first are ignored.
 */
import { STORED_QUALITY_MIN } from '../../core/limits.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import { jpegQuality, type QuantizationTable } from './jpeg-quality.ts';
import type { HeaderFacts } from './scan.ts';

const SOF_BASELINE = 0xc0;
const SOF_PROGRESSIVE = 0xc2;
const DHT = 0xc4;
const JPG = 0xc8;
const DAC = 0xcc;
const SOF_LAST = 0xcf;
const EOI = 0xd9;
const SOS = 0xda;
const DQT = 0xdb;
const APP0 = 0xe0;
const APP14 = 0xee;

const TABLE_VALUES = 64;
/** Adobe's segment: its name, and the position of the color transform (0: none). */
const ADOBE = 'Adobe';
const ADOBE_TRANSFORM_AT = 11;

export function scanJpeg(bytes: Buffer): HeaderFacts {
  const tables = new Map<number, QuantizationTable>();
  let frame: Frame | undefined;
  let said: boolean | undefined;
  let scanned = 0;
  for (const { marker, body } of segments(bytes)) {
    said ??= saysRgb(marker, body);
    if (marker === SOS) scanned = body.readUInt8(0);
    if (marker === DQT) readTables(body, tables);
    if (isFrame(marker)) {
      if (frame !== undefined) throw damaged('two frame headers');
      frame = readFrame(marker, body);
    }
  }
  if (frame === undefined) throw damaged('no frame header');
  const quality = jpegQuality(frame.tables.map((table) => tables.get(table)));
  const isRgb = frame.tables.length === 3 && (said ?? frame.is_named_rgb);
  return {
    content_type: 'image/jpeg',
    width: frame.width,
    height: frame.height,
    bits_per_channel: 8,
    has_alpha: false,
    is_lossless: false,
    frames: 1,
    // It is stored as YCbCr, with other rounding, so low tables cannot be reproduced.
    quality: quality !== null && isRgb ? Math.max(quality, STORED_QUALITY_MIN) : quality,
    chroma: frame.is_subsampled ? '4:2:0' : '4:4:4',
    is_palette: false,
    has_inks: frame.tables.length === 4,
    // Also when its components come one after another.
    is_progressive: frame.is_progressive || scanned < frame.tables.length,
  };
}

type Frame = {
  width: number;
  height: number;
  tables: number[];
  is_subsampled: boolean;
  is_named_rgb: boolean;
  is_progressive: boolean;
};

/**
 * The rule of libjpeg: JFIF is always YCbCr, Adobe's segment states it; undefined for other
 * segments.
 */
function saysRgb(marker: number, body: Buffer): boolean | undefined {
  if (marker === APP0 && body.toString('latin1', 0, 5) === 'JFIF\0') return false;
  const isAdobe = marker === APP14 && body.toString('latin1', 0, ADOBE.length) === ADOBE;
  return isAdobe && body.length > ADOBE_TRANSFORM_AT ? body[ADOBE_TRANSFORM_AT] === 0 : undefined;
}

/** The segments up to the head of the first scan, each without its length. */
function* segments(bytes: Buffer): Generator<{ marker: number; body: Buffer }> {
  let at = 2;
  for (;;) {
    if (bytes.readUInt8(at) !== 0xff) throw damaged('no marker where one belongs');
    while (bytes.readUInt8(at) === 0xff) at += 1;
    const marker = bytes.readUInt8(at);
    at += 1;
    if (marker === EOI || isStandalone(marker)) throw damaged('a marker before the first scan');
    const length = bytes.readUInt16BE(at);
    if (length < 2 || at + length > bytes.length) throw damaged('a segment leaves the file');
    yield { marker, body: bytes.subarray(at + 2, at + length) };
    if (marker === SOS) return;
    at += length;
  }
}

function isStandalone(marker: number): boolean {
  return marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

function isFrame(marker: number): boolean {
  const isInRange = marker >= SOF_BASELINE && marker <= SOF_LAST;
  return isInRange && marker !== DHT && marker !== JPG && marker !== DAC;
}

function readFrame(marker: number, body: Buffer): Frame {
  if (marker > SOF_PROGRESSIVE) throw unsupported('neither sequential nor progressive Huffman');
  const [precision, height, width] = [
    body.readUInt8(0),
    body.readUInt16BE(1),
    body.readUInt16BE(3),
  ];
  if (precision !== 8) throw unsupported(`${precision} bits`);
  const count = body.readUInt8(5);
  if (![1, 3, 4].includes(count)) throw unsupported(`${count} components`);
  if (width === 0 || height === 0) throw damaged('no size');
  const components = Array.from({ length: count }, (_, index) => ({
    name: body.readUInt8(6 + index * 3),
    sampling: body.readUInt8(7 + index * 3),
    table: body.readUInt8(8 + index * 3),
  }));
  const [luma, chroma] = components;
  return {
    width,
    height,
    tables: components.map(({ table }) => table),
    // Only color halved in both directions is stored halved: 4:2:2 keeps all of its color.
    is_subsampled: luma?.sampling === 0x22 && chroma?.sampling === 0x11,
    is_named_rgb: String.fromCharCode(...components.map(({ name }) => name)) === 'RGB',
    is_progressive: marker === SOF_PROGRESSIVE,
  };
}

/** Stores each quantization table of the segment under its destination. */
function readTables(body: Buffer, tables: Map<number, QuantizationTable>): void {
  let at = 0;
  while (at < body.length) {
    const head = body.readUInt8(at);
    const width = head >> 4 === 0 ? 1 : 2;
    const values = Array.from({ length: TABLE_VALUES }, (_, index) =>
      body.readUIntBE(at + 1 + index * width, width),
    );
    tables.set(head & 0x0f, values);
    at += 1 + TABLE_VALUES * width;
  }
}

function damaged(detail: string): IngestRefusal {
  return new IngestRefusal('decode_failed', `JPEG: ${detail}`);
}

function unsupported(detail: string): IngestRefusal {
  return new IngestRefusal('unsupported_media_type', `JPEG: ${detail}`);
}
