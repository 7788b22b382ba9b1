/** Help with libraries, folders and the filters that work inside a library. Spec: Libraries; Files. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const libraryHelp = {
  invalid_library_slug: {
    cause:
      'The slug of a new library is empty, too long, contains characters that are not allowed in a path, or is the reserved word `default`.',
    steps: [
      'Use up to 64 letters, digits, dots, hyphens or underscores, beginning with a letter or digit. Capitals are converted to lower case.',
      'The library `default` always exists; you do not create it.',
    ],
  },
  invalid_folder: {
    cause:
      'The folder is deeper than 10 levels, longer than 255 characters, or has a level that is `.`, `..` or contains control characters.',
    steps: ['Write it as names between slashes, such as `2026/spring/shoes`; empty is the root.'],
  },
  invalid_search: {
    cause: 'The search text has fewer than 2 characters after the spaces around it are removed.',
    steps: ['Search only after 2 characters are typed, or leave `search` out.'],
  },
  invalid_bbox: {
    cause: 'The `bbox` is not four numbers in degrees, or its south is greater than its north.',
    steps: [
      'Write it as `west,south,east,north`, for instance `bbox=5.9,45.8,10.5,47.8`.',
      'Longitudes range from -180 to 180, latitudes from -90 to 90. If west is greater than east, the box crosses the antimeridian.',
    ],
  },
  folder_requires_library: {
    cause:
      'The list request has `folder` or `recursive` without a `library`. Every library has its own folders.',
    steps: ['Send `library` as well; every project has the library `default`.'],
  },
  filter_requires_library: {
    cause:
      'The request has `search`, `has_location`, `bbox`, or a `sort` other than uploaded without a `library`. These read data that is only kept per library.',
    steps: [
      'Send `library` as well; every project has the library `default`.',
      'To search by the beginning of a slug, `q` works without a library.',
    ],
  },
  not_supported: {
    cause:
      'The fields are reserved for a later version: a library has the delivery settings of its project.',
    steps: ['Leave out the fields in `details.fields`.', 'Set `delivery_access` on the project.'],
    details: { fields: ['delivery_access'] },
  },
  default_library_immutable: {
    cause:
      'The request changes or deletes the library `default`, which every project has. Only its `allowed_origins` can be changed.',
    steps: [
      'Send only `allowed_origins`.',
      'To use another name, create a library and move the files to it.',
    ],
  },
  library_not_found: {
    cause: 'The project has no library with this slug, or it was deleted.',
    steps: [
      'Compare the slug with the list of libraries, or create the library first.',
      '`default` is the slug of the built-in library, which is not listed.',
    ],
  },
  media_library_disabled: {
    cause:
      'The request writes to a library or folder, and library writes are turned off in this installation.',
    steps: [
      'Leave `library` and `folder` out: the file is then placed in the root of the default library.',
      'If you run the installation: set `TINTYPE_MEDIA_LIBRARY_WRITES` to `enabled`.',
    ],
  },
  library_slug_taken: {
    cause:
      'Another library of this project has the slug. The slug of a deleted library is free again.',
    steps: ['Use the existing library, or choose another slug.'],
  },
  library_not_empty: {
    cause:
      'The library still holds files, blocked ones included, or unfinished uploads. Only an empty library can be deleted.',
    steps: [
      'Move its files to another library, or delete them.',
      'Wait for its uploads to finish, or abort them.',
      'Then delete the library.',
    ],
  },
  filter_unavailable: {
    cause:
      'The project has more files than can be searched without an index, and the indexes for its libraries have not been built yet.',
    steps: [
      'Leave out the library filters; `q` and `status` work at any size.',
      'If you run the installation: `tintype job library-indexes` builds the library indexes.',
    ],
    details: { max_files: 100_000 },
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
