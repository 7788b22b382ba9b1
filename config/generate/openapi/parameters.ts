/** The parameters of paths and queries, in words. */
import type { Json } from './document.ts';
import { exampleIds } from './example-ids.ts';

/** What a path parameter is, by its name. */
const PATH: Readonly<Record<string, { description: string; schema: Json }>> = {
  slug: {
    description: 'The slug of the project.',
    schema: {
      type: 'string',
      pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
      examples: ['shop'],
    },
  },
  organization_id: { description: 'The id of the organization.', schema: idSchema('org') },
  fileId: { description: 'The id of the file.', schema: idSchema('file') },
  keyId: { description: 'The id of the key.', schema: idSchema('key') },
  lib: {
    description: 'The slug of the library, or `default`.',
    schema: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      examples: ['press'],
    },
  },
  project: {
    description: 'The slug of the project.',
    schema: { type: 'string', examples: ['shop'] },
  },
  library: {
    description: 'The slug of the library, or `default`.',
    schema: { type: 'string', examples: ['press'] },
  },
  file: {
    description: 'The name of the script or style.',
    schema: { type: 'string', examples: ['picker.js'] },
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

/** `{id}` is of the kind of the list that it stands in. */
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

function idSchema(prefix: keyof typeof exampleIds): Json {
  const pattern = `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
  return { type: 'string', pattern, examples: [exampleIds[prefix]] };
}

export const parameterNotes: Readonly<Record<string, string>> = {
  limit: 'How many to answer at most.',
  cursor: '`next_cursor` of the page before, unchanged, with the same filters and sort.',
  status: 'Only those in this state.',
  size: 'The box that the picture fits in: 480 pixels, or 1600.',
  event: 'Only those of this event.',
  q: 'Only slugs that begin with this.',
  library: 'Only files of this library: its slug, or `default`.',
  folder: 'Only files of this folder; needs `library`.',
  recursive: 'With `folder`: its subfolders as well.',
  search: 'Only files whose title, original file name or slug contains this text; needs `library`.',
  has_location: 'Only files with, or without, a place; needs `library`.',
  bbox: '`west,south,east,north` in degrees; needs `library`. West above east crosses the antimeridian.',
  sort: '`uploaded` (newest first), `name`, or `taken` (newest first, undated last). The last two need `library`.',
  uploader: 'Only files whose current revision this subject of a library session uploaded.',
  o: 'The origin that may show the page in a frame.',
  exp: 'Until when, in Unix seconds.',
  kid: 'The id of the key that signed.',
  s: 'The signature of all of this.',
  include: '`location` adds `location` and `taken_at`.',
  from: 'Beginning, as a date (2026-01-31) or a timestamp (2026-01-31T12:00:00Z); 30 days before now where it is left out, or before `to` where that is earlier.',
  to: 'End, as a date (that day included) or a timestamp; now where it is left out.',
  since:
    'What was done then or later: a timestamp (2026-01-31T12:00:00Z), or a date, which is its midnight UTC.',
  until:
    'What was done before: a timestamp, or a date, which is its midnight UTC, so that this day is left out.',
  active_since:
    'Only those that were open then or later: a timestamp, or a date, which is its midnight UTC.',
  organization_id: 'Only what belongs to this organization.',
  project_slug: 'Only what belongs to this project.',
  file_slug: 'Only what is about files of this slug.',
  review: 'Only those with this review.',
  flag: 'Only those that raised this flag.',
  actor_kind: 'Only what was done by this kind of actor.',
  actor_id: 'Only what was done by this one: a subject, the id of a key, or the UID of a resource.',
  action: 'Only this action, such as `file.block`.',
  target: 'Only what was done to this: an id or a slug.',
  request_id: 'Only what was done in this request, by its `x-request-id`.',
};
