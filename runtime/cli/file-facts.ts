/**
 * What a file is, found out before anything is sent. A file that could never be published is refused here, with the
 * code that the service would return. Spec: Uploads (create).
 */
import { lstat, open, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { findFormat, sniffContentType } from '../core/image/formats.ts';
import { startsWith } from '../core/image/signatures.ts';
import { SVG_BYTES_MAX } from '../core/limits.ts';
import { Refused } from './refused.ts';

export type FileFacts = {
  content_type: string;
  size_bytes: number;
  /** Worth reporting although the file is accepted. */
  note?: string;
};

export async function readFileFacts(file: string): Promise<FileFacts> {
  const found = await stat(file).catch((cause: unknown) => refuseUnread(file, cause));
  if (found.isDirectory()) {
    throw unreadable(
      `This is a folder. Name the files in it, for example ${file.replace(/\/+$/, '')}/*`,
    );
  }
  if (!found.isFile()) throw unreadable('This is not a regular file. Name an image.');
  if (found.size === 0)
    throw new Refused('invalid_request', 'The file is empty. Export or copy it again.');
  const head = await readHead(file).catch((cause: unknown) => refuseUnread(file, cause));
  const content_type = sniffContentType(head);
  if (content_type === undefined) throw new Refused(NOT_TAKEN, describeContent(head));
  if (content_type === 'image/heic') throw new Refused(NOT_TAKEN, HEIC);
  const facts = { content_type, size_bytes: found.size };
  const note = describeWrongExtension(file, content_type);
  return note === undefined ? facts : { ...facts, note };
}

const NOT_TAKEN = 'unsupported_content_type';
const HEIC =
  'This is a HEIC picture, the format that many phones use. Convert it to JPEG first, or set the phone to take JPEG (“most compatible”).';

const NOT_UTF8 = 'Its name is not in UTF-8, so it cannot be sent. Rename the file.';

/** The service has no code for it, because nothing was sent. */
function unreadable(sentence: string, cause?: unknown): Refused {
  return new Refused('unreadable_file', sentence, { cause });
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file. Check its name and folder.',
  ENOTDIR: 'There is no such file: a part of its path is not a folder. Check the path.',
  ELOOP: 'This is a link that points to itself. Name the image.',
  EACCES:
    'You may not read this file. Change its permissions (chmod u+r), or run this as its owner.',
  EPERM: 'You may not read this file. Run this as its owner.',
  ENAMETOOLONG: 'The name is too long for a file. Check it.',
};

async function refuseUnread(file: string, cause: unknown): Promise<never> {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  if (file === '') throw unreadable('The name is empty. Is a variable in it not set?', cause);
  // The original bytes of such a name are lost before the program starts.
  if (code === 'ENOENT' && file.includes('\ufffd')) throw unreadable(NOT_UTF8, cause);
  const isLink = code === 'ENOENT' && (await lstat(file).catch(() => undefined)) !== undefined;
  if (isLink)
    throw unreadable('This link points to a file that does not exist. Correct the link.', cause);
  throw unreadable(
    reasons[code] ?? `The file cannot be read (${code}). Check the disk that it is on.`,
    cause,
  );
}

/** Reads as much as may precede the root element of an SVG. */
async function readHead(file: string): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SVG_BYTES_MAX), { position: 0 });
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** File types that people take for pictures, or pack them in. */
const foreignFormats: readonly { begin: string | number[]; at?: number; says: string }[] = [
  {
    begin: [0x1f, 0x8b],
    says: 'This is packed with gzip. Unpack it first; an SVGZ becomes an SVG.',
  },
  { begin: [0x50, 0x4b, 3, 4], says: 'This is a ZIP archive. Unpack it first.' },
  { begin: '%PDF', says: 'This is a PDF. Export its pages as PNG first.' },
  { begin: '8BPS', says: 'This is a Photoshop document. Export it as PNG or TIFF first.' },
  { begin: [0, 0, 1, 0], says: 'This is an icon file (ICO). Export it as PNG first.' },
  { begin: [0xff, 0x0a], says: 'This is a JPEG XL. Convert it to JPEG, PNG or AVIF first.' },
  { begin: 'JXL ', at: 4, says: 'This is a JPEG XL. Convert it to JPEG, PNG or AVIF first.' },
  { begin: 'ftyp', at: 4, says: 'This is a video. Export a still picture of it first.' },
];

const SUPPORTED_TYPES = 'Use JPEG, PNG, WebP, AVIF, GIF, TIFF, BMP or SVG.';

function describeContent(head: Uint8Array): string {
  const known = foreignFormats.find(({ begin, at }) => startsWith(head, begin, at));
  return known?.says ?? `This type of file is not accepted. ${SUPPORTED_TYPES}`;
}

const extensions: Readonly<Record<string, string>> = {
  jpeg: 'jpg',
  jpe: 'jpg',
  jfif: 'jpg',
  tif: 'tiff',
};

/** A picture with another format's extension: browsers use the delivered type, people the name. */
function describeWrongExtension(file: string, contentType: string): string | undefined {
  const written = extname(file).slice(1).toLowerCase();
  const format = findFormat(contentType);
  if (written === '' || format === undefined) return undefined;
  const isRight = (extensions[written] ?? written) === format.extension;
  if (isRight) return undefined;
  const name = format.extension.toUpperCase();
  return `it is ${/^[AS]/.test(name) ? 'an' : 'a'} ${name}, whatever its name says`;
}
