/** Help with library sessions and the picker. Spec: Library sessions and the picker; Rules 5 and 6. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

const MINT_AGAIN = 'On your server, mint a new session and hand the page its token or `embed_url`.';

export const librarySessionHelp = {
  invalid_subject: {
    cause:
      'The subject, which is your own name for an end user, is empty, longer than 128 characters, or holds control characters.',
    steps: ['Send a stable id of the user, such as the primary key of your database.'],
  },
  invalid_permissions: {
    cause:
      'The session asks for `browse` and `browse_own` at once. The first shows every file of the folder, the second only those of the subject.',
    steps: ['Send one of the two, with or without `upload`.'],
  },
  refresh_mismatch: {
    cause:
      'The new session refreshes an old one, but for another library, origin or subject, or with more rights, a wider folder or higher limits.',
    steps: [
      'Refresh with what the old session had, or with less.',
      'For anything else leave `refresh_of` out and mint a session of its own.',
    ],
  },
  invalid_origin: {
    cause:
      'The `o` of the embed URL is not an origin that may embed the picker: not https, with a path, or with a wildcard.',
    steps: [
      'Use `embed_url` exactly as it was returned.',
      'Mint the session for `https://host[:port]`, or for `http://localhost:<port>` while you develop.',
    ],
  },
  session_expired: {
    cause: 'The library session lived for as long as it was minted, an hour at most.',
    steps: [
      MINT_AGAIN,
      'For a session that goes on, send the old token as `refresh_of` within 10 minutes after its end.',
    ],
  },
  session_revoked: {
    cause:
      'The sessions of this project or of this subject were revoked after this one was minted, or its library was deleted.',
    steps: ['Check that the user may still be here, and that the library is.', MINT_AGAIN],
  },
  minting_key_revoked: {
    cause:
      'The API key that minted this session was revoked or rotated, and its sessions ended with it.',
    steps: ['Give your server the current key.', MINT_AGAIN],
  },
  invalid_session: {
    cause:
      'The token is not a whole library session of this service: cut short, changed, or signed with a key that is no longer known.',
    steps: ['Send the token (`ls1.…`) exactly as it was returned.', MINT_AGAIN],
  },
  scope_missing: {
    cause:
      'The API key may mint sessions, but lacks a scope that their permissions need: files:read for browsing, files:write for uploads, urls:sign where delivery is protected.',
    steps: ['Mint with a key that has these scopes too.', 'Or ask for fewer permissions.'],
  },
  origin_not_allowed: {
    cause:
      'The `origin` of the session is not in the `allowed_origins` of the library, nor in those of the default library.',
    steps: [
      'Add the origin, scheme and port included, to `allowed_origins`.',
      'Then mint the session again.',
    ],
  },
  permission_denied: {
    cause:
      'The library session is valid, but was minted without the permission that this call needs.',
    steps: ['Mint a session with `browse`, `browse_own` or `upload`, as the call needs.'],
  },
  invalid_embed_url: {
    cause:
      'The address of the picker page was changed after it was signed: its path or one of `o`, `exp`, `kid` and `s`.',
    steps: ['Use `embed_url` exactly as it was returned, as the `src` of the frame.', MINT_AGAIN],
  },
  embed_url_expired: {
    cause: 'The address of the picker page was valid until its `exp`, and that time has passed.',
    steps: [MINT_AGAIN],
  },
  library_sessions_disabled: {
    cause: 'This installation has library sessions and the picker turned off.',
    steps: [
      'Operators: set `TINTYPE_LIBRARY_SESSIONS` to `enabled`.',
      'Until then upload from your own page with upload sessions.',
    ],
  },
  subject_key_unavailable: {
    cause:
      'Subjects are protected with a key before they are stored, and this installation has none configured, so that a subject can be neither stored nor looked up.',
    steps: [
      'Operators: set `TINTYPE_TOKEN_KEYS`, of which the key that protects subjects is made.',
      'Until then leave filters by uploader out.',
    ],
  },
  sessions_recently_revoked: {
    cause: 'Sessions were revoked a moment ago, and a new one could not be told from those yet.',
    steps: ['Wait as many seconds as `Retry-After` says, then mint again.'],
  },
  session_upload_limit: {
    cause: 'The library session has created as many uploads as its `max_uploads` allows.',
    steps: [MINT_AGAIN, 'Where users upload much, mint with a higher `max_uploads`, up to 1,000.'],
  },
  embed_unavailable: {
    cause:
      'A script or style of the picker page is not there: the installation is being replaced, or is not whole.',
    steps: [
      'Try again after a few seconds.',
      'Operators: check that every process runs the same release.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
