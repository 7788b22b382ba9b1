/** What the fields of libraries and of the picker's responses mean, for the reference. */
import { fileNotes, uploadNotes } from './file-notes.ts';

export const libraryNotes = {
  library: {
    slug: 'Identifies the library in its project; every project has `default`.',
    name: 'The display name.',
    allowed_origins:
      'Pages that may embed its picker: `https://host[:port]`, `http://localhost:<port>` or `http://127.0.0.1:<port>`. Those of `default` apply to every library.',
    library_id: '`lib_…`; null for `default`.',
  },
  'library session': {
    session_id: '`ses_…`. A refresh keeps it.',
    token: '`ls1.…`: the credential, only for the picker’s page.',
    embed_url: 'The URL of the picker’s page, valid as long as the token.',
    expires_at: 'When the token and the URL expire.',
    library: 'The library of the session.',
    folder:
      'The folder that the session sees, with all below it, and uploads into; empty: the whole library.',
    permissions: 'What the session may do: see all files, see the files of its subject, upload.',
    origin: 'The page that may embed the picker.',
    max_file_bytes: 'The largest upload that the session may create.',
    max_uploads: 'How many uploads the session may create, including those before a refresh.',
  },
  'revoked sessions': {
    revoked_at: 'Sessions created before this time have ended.',
    mint_again_at: 'Until then, creating a session answers 409 `sessions_recently_revoked`.',
  },
  'library file': {
    ...fileNotes,
    file_id: '`file_…`.',
    folder: 'The folder in the library; empty: the root.',
    dominant_color: '`#rrggbb`, to show until the thumbnail has loaded.',
    url: 'The URL of the image as stored. In a protected project it needs a signature, which your server requests.',
    thumbnail_url:
      'A picture that fits in 320 by 320 pixels; signed for the lifetime of the session, unless anyone may fetch it.',
  },
  'library upload': {
    ...uploadNotes,
    expires_at:
      'The deadline for the bytes: 15 minutes, or the end of the token if that is sooner.',
    proxy: 'In the response of create: the URL of the single PUT.',
    file: 'The resulting file, once it is ready.',
  },
} as const;
