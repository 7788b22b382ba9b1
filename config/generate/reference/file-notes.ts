/** What the fields of files and of their uploads mean, in the reference. */

export const fileNotes = {
  file_slug: 'Names the file in its project and in delivery URLs.',
  file_id: '`file_…`. A file that is uploaded again after its deletion gets a new one.',
  status: 'See [File (status)](states.md#file-status).',
  revision: 'Goes up each time an upload replaces the image.',
  width: 'Of the image after its orientation was applied.',
  height: 'Likewise.',
  url: 'Where the image is served as it is kept.',
  sha256: 'Of the bytes as kept, which are not the bytes that were sent.',
  title: 'For people; null: none.',
  alt_text: 'For those who do not see the image; null: none.',
  folder: 'Where it is in its library; empty: the root.',
  library: 'The slug of its library; `default` for the one that every project has.',
  original_filename: 'The name on the uploader’s machine, where it is known.',
  location: 'Where it was taken, as its metadata said; only with `include=location`.',
  taken_at: 'When it was taken; only with `include=location`.',
  content_type: 'As kept and served.',
  size_bytes: 'As kept and served.',
  dominant_color: '`#rrggbb`, to show until the image has come.',
  thumb_hash: 'A ThumbHash in base64, for the same.',
} as const;

export const uploadNotes = {
  upload_id: '`upl_…`.',
  project_slug: 'The project that it belongs to.',
  file_slug: 'The slug that the file will have; the upload’s own id where none was asked for.',
  status: 'See [Upload session (status)](states.md#upload-session-status).',
  mode: 'How the bytes travel: straight to the storage, in one piece or in parts, or through the service.',
  content_type: 'As declared. The bytes must be of this type.',
  size_bytes: 'As declared, exactly.',
  error_code: 'Why it failed or expired; null otherwise.',
  expires_at: 'Until when the bytes are waited for.',
  ready_at: 'When the file was published.',
  direct:
    'In the answer of create: the URL and the headers of the one PUT, and until when they work.',
  multipart:
    'In the answer of create, with `parts` above 1: the storage’s own id, the length of every part but the last, and a URL for each part.',
  proxy: 'In the answer of create, with mode `proxy`: the URL of the one PUT.',
  sha256: 'As declared, or null. When declared, the bytes must have it.',
  library: 'The slug of its library; `default` for the one that every project has.',
  folder: 'Where the file will be in its library; empty: the root.',
  file_id: 'The file that it became.',
  revision: 'The revision of that file which it became.',
} as const;
