/** What the fields of files and their uploads mean, for the reference. */

export const fileNotes = {
  file_slug: 'Identifies the file in its project and in delivery URLs.',
  file_id: '`file_…`. A file that is uploaded again after its deletion gets a new id.',
  status: 'See [File (status)](states.md#file-status).',
  revision: 'Increases each time an upload replaces the image.',
  width: 'Width of the image in pixels, after its orientation was applied.',
  height: 'Height of the image in pixels, after its orientation was applied.',
  url: 'The URL of the image as stored.',
  sha256: 'SHA-256 of the stored bytes, which are not the bytes that were sent.',
  title: 'The title for people; null: none.',
  alt_text: 'The text for people who cannot see the image; null: none.',
  folder: 'The folder in its library; empty: the root.',
  library: 'The slug of its library; `default` for the one that every project has.',
  original_filename: 'The file name on the uploader’s machine, if known.',
  location: 'Where the picture was taken, according to its metadata; only with `include=location`.',
  taken_at: 'When the picture was taken; only with `include=location`.',
  content_type: 'The type as stored and served.',
  size_bytes: 'The size as stored and served.',
  dominant_color: '`#rrggbb`, to show until the image has loaded.',
  thumb_hash: 'A ThumbHash in base64, for the same purpose.',
} as const;

export const uploadNotes = {
  upload_id: '`upl_…`.',
  project_slug: 'The project of the upload.',
  file_slug: 'The slug that the file will have; the id of the upload if none was requested.',
  status: 'See [Upload session (status)](states.md#upload-session-status).',
  mode: 'How the bytes are sent: directly to the storage, in one piece or in parts, or through the service.',
  content_type: 'The declared type. The bytes must be of this type.',
  size_bytes: 'The declared size. The bytes must have exactly this size.',
  error_code: 'Why the upload failed or expired; null otherwise.',
  expires_at: 'The deadline for the bytes.',
  ready_at: 'When the file was published.',
  direct:
    'In the response of create: the URL and the headers of the single PUT, and when they expire.',
  multipart:
    'In the response of create, with `parts` above 1: the storage’s own id, the length of every part but the last, and a URL for each part.',
  proxy: 'In the response of create, with mode `proxy`: the URL of the single PUT.',
  sha256: 'The declared SHA-256, or null. If declared, the bytes must have it.',
  library: 'The slug of its library; `default` for the one that every project has.',
  folder: 'The folder of the file in its library; empty: the root.',
  file_id: 'The resulting file.',
  revision: 'The revision of the file that the upload created.',
} as const;
