/** Descriptions of path and query parameters. */
import type { Json } from './document.ts';
import { exampleIds } from './example-ids.ts';

const PROJECT_SLUG: Json = {
  type: 'string',
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
  examples: ['shop'],
};
const LIBRARY_SLUG: Json = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  examples: ['press'],
};

/** Path parameters by name. */
const PATH: Readonly<Record<string, { description: string; schema: Json }>> = {
  slug: {
    description: 'The slug of the project.',
    schema: PROJECT_SLUG,
  },
  organization_id: { description: 'The id of the organization.', schema: idSchema('org') },
  fileId: { description: 'The id of the file.', schema: idSchema('file') },
  keyId: { description: 'The id of the key.', schema: idSchema('key') },
  lib: {
    description: 'The slug of the library, or `default`.',
    schema: LIBRARY_SLUG,
  },
  project: {
    description: 'The slug of the project.',
    schema: PROJECT_SLUG,
  },
  library: {
    description: 'The slug of the library, or `default`.',
    schema: LIBRARY_SLUG,
  },
  file: {
    description: 'The name of the script or style.',
    schema: { type: 'string', pattern: '^[a-z0-9-]+[.](js|css)$', examples: ['picker.js'] },
  },
  fileSlug: {
    description: 'The slug of the file.',
    schema: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
      examples: ['red-shoe.jpg'],
    },
  },
};

/** `{id}` identifies an item of the list that precedes it in the path. */
const LISTS: Readonly<Record<string, { what: string; prefix: keyof typeof exampleIds }>> = {
  'watermark-presets': { what: 'preset', prefix: 'wm' },
  recipes: { what: 'recipe', prefix: 'rcp' },
  checks: { what: 'check', prefix: 'chk' },
  incidents: { what: 'incident', prefix: 'inc' },
  uploads: { what: 'upload session', prefix: 'upl' },
};

const WEBHOOK_ID: Json = {
  description: 'The id of the delivery.',
  schema: {
    type: 'string',
    maxLength: 300,
    examples: [`upload.ready:${exampleIds.upl}`],
  },
};

export function pathParameters(path: string): Json[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return names.map((name) => ({ name, in: 'path', required: true, ...describe(path, name) }));
}

function describe(path: string, name: string): Json {
  if (name === 'id' && path.includes('/webhook-deliveries/')) return WEBHOOK_ID;
  const list = LISTS[/([\w-]+)\/\{id\}/.exec(path)?.[1] ?? ''];
  const found =
    name === 'id' && list !== undefined
      ? { description: `The id of the ${list.what}.`, schema: idSchema(list.prefix) }
      : PATH[name];
  if (found === undefined)
    throw new Error(`openapi/parameters.ts does not know {${name}} of ${path}`);
  return found;
}

export function idSchema(prefix: keyof typeof exampleIds): Json {
  const pattern = `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
  return { type: 'string', pattern, examples: [exampleIds[prefix]] };
}

export const parameterNotes: Readonly<Record<string, string>> = {
  limit: 'The maximum number of items to return.',
  cursor: '`next_cursor` of the previous page, unchanged, with the same filters and sort.',
  status: 'Only items in this state.',
  size: 'The box that the picture fits in: 480 or 1600 pixels.',
  event: 'Only deliveries of this event.',
  q: 'Only slugs that begin with this text.',
  library: 'Only files of this library: its slug, or `default`.',
  folder: 'Only files of this folder; needs `library`.',
  recursive: 'With `folder`: include its subfolders.',
  search: 'Only files whose title, original file name or slug contains this text; needs `library`.',
  has_location: 'Only files with, or without, a location; needs `library`.',
  bbox: '`west,south,east,north` in degrees; needs `library`. If west is greater than east, the box crosses the antimeridian.',
  sort: '`uploaded` (newest first), `name`, or `taken` (newest first, undated last). The last two need `library`.',
  uploader: 'Only files whose current revision was uploaded by this subject of a library session.',
  o: 'The origin that may embed the page in a frame.',
  exp: 'The expiry time of the URL, in Unix seconds.',
  kid: 'The id of the key that signed the URL.',
  s: 'The signature of the URL.',
  include: '`location` adds `location` and `taken_at`.',
  from: 'Start of the range, as a date (2026-01-31) or a timestamp (2026-01-31T12:00:00Z). Default: 30 days before now, or before `to` if that is earlier.',
  to: 'End of the range, as a date (that day included) or a timestamp. Default: now.',
  since:
    'Only entries from this time on: a timestamp (2026-01-31T12:00:00Z), or a date, which means midnight UTC.',
  until:
    'Only entries before this time: a timestamp, or a date, which means midnight UTC, so that day is excluded.',
  active_since:
    'Only incidents that were open at this time or later: a timestamp, or a date, which means midnight UTC.',
  organization_id: 'Only items of this organization.',
  project_slug: 'Only items of this project.',
  file_slug: 'Only items about files with this slug.',
  review: 'Only checks with this review.',
  flag: 'Only checks that raised this flag.',
  actor_kind: 'Only actions of this kind of actor.',
  actor_id: 'Only actions of this actor: a subject, the id of a key, or the UID of a resource.',
  action: 'Only this action, such as `file.block`.',
  target: 'Only actions on this target: an id or a slug.',
  request_id: 'Only actions of the request with this `x-request-id`.',
};
