/** Tables of the delivery host: formats, operations, refusals in order, response headers. */
import {
  imageHeaders,
  preflightHeaders,
  refusalHeaders,
} from '../../../runtime/core/delivery/headers.ts';
import {
  type OperationName,
  operations,
  type ParsedChain,
} from '../../../runtime/core/delivery/operations.ts';
import { refusals } from '../../../runtime/core/delivery/refusals.ts';
import { printHelpLink } from '../../../runtime/core/error-help/help-link.ts';
import { formats } from '../../../runtime/core/image/formats.ts';
import { printLimit } from './limits.ts';
import { code, codes, table } from './markdown.ts';

export function formatTable(): string {
  const rows = formats.map(({ content_type, stored_as, takes_metadata }) => [
    code(content_type),
    code(stored_as),
    takes_metadata ? 'yes' : 'no',
  ]);
  return table(
    ['uploaded as', 'kept and served as', 'container can carry EXIF, ICC and XMP'],
    rows,
  );
}

/** The syntax of each operation and its bounds; a missing operation does not compile. */
const WRITTEN: Record<
  Exclude<OperationName, undefined>,
  { syntax: readonly string[]; rule: string }
> = {
  resize: {
    syntax: ['resize/<w>x<h>', 'resize/<w>x', 'resize/x<h>'],
    rule: `Sides in pixels, ${printLimit('RESIZE_SIDE_PIXELS_MIN')} to ${printLimit('RESIZE_SIDE_PIXELS_MAX')}. An empty side follows the aspect ratio.`,
  },
  mode: {
    syntax: ['fill', 'smart', 'fit', 'fit/<mode>'],
    rule: 'Must follow resize directly. `fill` (the default; `crop` is a synonym) fills the box and crops around the center, `smart` crops around the focal point that was found at upload, `fit` keeps the whole image inside the box.',
  },
  crop: {
    syntax: ['crop/<x>,<y>,<w>,<h>'],
    rule: 'A box of the source in pixels from the top left, at least 1 pixel wide and high. It is cut before any resize, wherever it stands in the chain.',
  },
  format: {
    syntax: ['format/webp', 'format/avif', 'format/jpeg', 'format/png'],
    rule: 'The format of the response; `jpg` is read as `jpeg`. Without it, the stored format is kept.',
  },
  quality: {
    syntax: ['quality/<n>'],
    rule: `${printLimit('QUALITY_MIN')} to ${printLimit('QUALITY_MAX')}. For PNG it sets the compression level and never reduces colors. GIF ignores it and gets a palette made for the requested size.`,
  },
  watermark: {
    syntax: ['watermark', 'watermark:<preset id>'],
    rule: 'Draws a watermark preset; without an id, the default preset of the project.',
  },
  preset: {
    syntax: ['preset:<name>'],
    rule: 'Stands for the chain that the project stores under this name.',
  },
};

const EXAMPLE: ParsedChain = {
  resize: { width: 640, height: 480 },
  mode: 'smart',
  crop: { x: 0, y: 0, width: 300, height: 200 },
  format: 'webp',
  quality: 80,
  watermark: { preset_id: null },
  preset: 'thumb',
};

export function operationTable(): string {
  const rows = operations.map(({ name, print }) => [
    name,
    codes(WRITTEN[name].syntax),
    code(print(EXAMPLE).join('/')),
    WRITTEN[name].rule,
  ]);
  return table(['operation', 'syntax', 'example', 'rule'], rows);
}

export function refusalTable(): string {
  const rows = refusals.map(({ status, codes: answered, refuse }, at) => [
    String(at + 1),
    String(status),
    codes(answered),
    words(refuse.name),
  ]);
  return table(['', 'status', 'code', 'when'], rows);
}

/** For example, `fileMissing` → file missing. */
function words(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const image = {
  kind: 'derived',
  content_type: 'image/jpeg',
  revision: 1,
  project_id: '<project id>',
  file_id: '<file id>',
  etag: '"<tag>"',
} as const;

export function responseHeaderTable(): string {
  const answers = {
    'public image': imageHeaders({ ...image, access: 'public' }),
    'signed image (300 s left)': imageHeaders({ ...image, access: { seconds_left: 300 } }),
    'SVG original': imageHeaders({
      ...image,
      kind: 'originals',
      content_type: 'image/svg+xml',
      access: 'public',
    }),
    'raw download': imageHeaders({
      kind: 'raw',
      content_type: 'image/jpeg',
      revision: 1,
      project_id: image.project_id,
      file_id: image.file_id,
      file_slug: 'red-shoe.jpg',
      original_filename: 'Red shoe.jpeg',
    }),
    refusal: refusalHeaders({
      retry_after_seconds: 2,
      help: printHelpLink('https://api.example.com', '<code>'),
    }),
    'answer to OPTIONS': preflightHeaders(),
  };
  const rows = Object.entries(answers).flatMap(([answer, headers]) =>
    Object.entries(headers).map(([name, value]) => ({ answer, name, value })),
  );
  const printed = Map.groupBy(rows, ({ name, value }) => `${name}: ${value}`);
  const all = Object.keys(answers).length;
  return table(
    ['header', 'value', 'on'],
    [...printed.values()].map((same) => [
      code(same[0]?.name ?? ''),
      code(same[0]?.value ?? ''),
      same.length === all ? 'every answer' : same.map(({ answer }) => answer).join(', '),
    ]),
  );
}
