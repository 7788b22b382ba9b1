// The file name under which a raw download is saved. Spec: Output rules 7. Decided: the slug in plain ASCII for every
// client, and the original name in UTF-8 for clients that read it, both with the extension of the stored type.
import { findFormat, formats } from '../image/formats.ts';
import { RAW_FILENAME_LENGTH_MAX } from '../limits.ts';
import { stripText } from '../text.ts';

/** The Content-Disposition of a raw download. A slug needs no quoting. */
export function contentDisposition(file: {
  readonly content_type: string;
  readonly file_slug: string;
  readonly original_filename: string | null;
}): string {
  const extension = findFormat(file.content_type)?.extension ?? 'bin';
  const plain = `attachment; filename="${withExtension(file.file_slug, extension)}"`;
  const original = cleanName(file.original_filename ?? '');
  if (original === '') return plain;
  return `${plain}; filename*=UTF-8''${encodeName(withExtension(original, extension))}`;
}

const EXTENSIONS: readonly string[] = [...formats.map((row) => row.extension), 'jpeg', 'tif'];

// An image extension of the original name is replaced: scan.tiff is saved as scan.png.
function withExtension(name: string, extension: string): string {
  const dot = name.lastIndexOf('.');
  const isKnown = dot > 0 && EXTENSIONS.includes(name.slice(dot + 1).toLowerCase());
  const stem = [...(isKnown ? name.slice(0, dot) : name)];
  const length = RAW_FILENAME_LENGTH_MAX - extension.length - 1;
  return `${stem.slice(0, length).join('')}.${extension}`;
}

// Removes unsafe characters, and replaces those that a file system or a shell would interpret.
function cleanName(name: string): string {
  return stripText(name.normalize('NFC'))
    .replace(/[\\/:*?"<>|]/g, '_')
    .replace(/^[\s.]+|[\s.]+$/g, '');
}

// RFC 8187: attr-chars stay as they are; encodeURIComponent leaves a few others unescaped.
function encodeName(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
