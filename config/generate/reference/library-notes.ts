/** What the fields of libraries and of the picker's answers mean, in the reference. */
import { fileNotes, uploadNotes } from './file-notes.ts';

export const libraryNotes = {
  library: {
    slug: 'Names it in its project; `default` is the one that every project has.',
    name: 'What people call it.',
    allowed_origins:
      'Which pages may embed its picker: `https://host[:port]`, `http://localhost:<port>` or `http://127.0.0.1:<port>`. Those of `default` go for every library.',
    library_id: '`lib_…`; null for `default`.',
  },
  'library session': {
    session_id: '`ses_…`. A refresh keeps it.',
    token: '`ls1.…`: the credential, for the picker’s page alone.',
    embed_url: 'The address of the picker’s page, valid as long as the token.',
    expires_at: 'When both end.',
    library: 'The library that it is for.',
    folder:
      'The folder that it sees, with all below it, and uploads into; empty: the whole library.',
    permissions: 'What it may do: see all files, or see those of its subject, and upload.',
    origin: 'The page that may embed the picker.',
    max_file_bytes: 'The largest upload that it may begin.',
    max_uploads: 'How many uploads it may begin, those before a refresh included.',
  },
  'revoked sessions': {
    revoked_at: 'Sessions that were minted before are over.',
    mint_again_at: 'Until then mints answer 409 `sessions_recently_revoked`.',
  },
  'library file': {
    ...fileNotes,
    file_id: '`file_…`.',
    folder: 'Where it is in the library; empty: the root.',
    dominant_color: '`#rrggbb`, to show until the thumbnail has come.',
    url: 'Where the image is served as it is kept. Of a protected project it needs a signature, which your server mints.',
    thumbnail_url:
      'A picture that fits in 320 by 320 pixels: signed for as long as the session lives, unless anybody may fetch it.',
  },
  'library upload': {
    ...uploadNotes,
    expires_at:
      'Until when the bytes are waited for: 15 minutes, or the end of the token if that is sooner.',
    proxy: 'In the answer of create: the URL of the one PUT.',
    file: 'The file that it became, once it is ready.',
  },
} as const;
