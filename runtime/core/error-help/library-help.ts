/** Help with libraries, folders and the filters that work inside a library. Spec: Libraries; Files. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const libraryHelp = {
  invalid_library_slug: {
    cause:
      'The slug of a new library is empty, too long, has characters that do not belong in a path, or is the reserved word `default`.',
    steps: [
      'Use up to 64 letters, digits, dots, hyphens or underscores, beginning with a letter or digit. Capitals become small.',
      'The library `default` is there without being created.',
    ],
  },
  invalid_folder: {
    cause:
      'The folder is deeper than 10 levels, longer than 255 characters, or has a level that is `.`, `..` or holds control characters.',
    steps: ['Write it as names between slashes, such as `2026/spring/shoes`; empty is the root.'],
  },
  invalid_search: {
    cause: 'The search text has fewer than 2 characters once the spaces around it are taken off.',
    steps: ['Wait with the search until 2 characters are typed, or leave `search` out.'],
  },
  invalid_bbox: {
    cause: 'The `bbox` is not four numbers of degrees, or its south is above its north.',
    steps: [
      'Write it as `west,south,east,north`, for instance `bbox=5.9,45.8,10.5,47.8`.',
      'Longitudes are from -180 to 180, latitudes from -90 to 90. A west above its east crosses the antimeridian.',
    ],
  },
  folder_requires_library: {
    cause:
      'The list was asked for a `folder`, or `recursive`, without a `library`. Every library has folders of its own.',
    steps: ['Send `library` as well; `default` is the one that every project has.'],
  },
  filter_requires_library: {
    cause:
      'One of `search`, `has_location`, `bbox`, or a `sort` other than uploaded came without a `library`. They read what is kept for a library alone.',
    steps: [
      'Send `library` as well; `default` is the one that every project has.',
      'For the beginning of a slug, `q` works without one.',
    ],
  },
  not_supported: {
    cause:
      'The fields are known and reserved for a later version: a library has the delivery settings of its project.',
    steps: ['Leave out the fields in `details.fields`.', 'Set `delivery_access` at the project.'],
    details: { fields: ['delivery_access'] },
  },
  default_library_immutable: {
    cause:
      'The change or deletion is of the library `default`, which every project has as it is. Only its `allowed_origins` can be changed.',
    steps: [
      'Send `allowed_origins` alone.',
      'For another name, create a library and move the files to it.',
    ],
  },
  library_not_found: {
    cause: 'The project has no library with this slug, or it was deleted.',
    steps: [
      'Compare it with the list of libraries, or create it first.',
      '`default` is the slug of the built-in one, which is not listed.',
    ],
  },
  media_library_disabled: {
    cause:
      'The request places something in a library or folder, and this installation has writes of libraries turned off.',
    steps: [
      'Leave `library` and `folder` out: the file is put at the root of the default library.',
      'Operators: set `TINTYPE_MEDIA_LIBRARY_WRITES` to `enabled`.',
    ],
  },
  library_slug_taken: {
    cause:
      'Another library of this project has the slug. The slug of a deleted library is free again.',
    steps: ['Use the library that is there, or choose another slug.'],
  },
  library_not_empty: {
    cause:
      'The library still holds files, blocked ones included, or uploads that are not finished. Only an empty one can be deleted.',
    steps: [
      'Move its files to another library, or delete them.',
      'Wait for its uploads, or abort them.',
      'Then delete the library.',
    ],
  },
  filter_unavailable: {
    cause:
      'The project has more files than can be searched without an index, and the indexes of its libraries have not been built yet.',
    steps: [
      'Leave out the filters of libraries; `q` and `status` work at every size.',
      'Operators: `tintype job library-indexes` builds the library indexes.',
    ],
    details: { max_files: 100_000 },
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
