/** Help with library sessions and the picker. Spec: Library sessions and the picker; Rules 5 and 6. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

const MINT_AGAIN = 'On your server, mint a new session and give the page its token or `embed_url`.';

export const librarySessionHelp = {
  invalid_subject: {
    cause:
      'The subject, your own identifier for an end user, is empty, longer than 128 characters, or contains control characters.',
    steps: ['Send a stable id of the user, such as the primary key in your database.'],
  },
  invalid_permissions: {
    cause:
      'The session requests both `browse` and `browse_own`. The first shows every file in the folder, the second only the files of the subject.',
    steps: ['Send one of the two, with or without `upload`.'],
  },
  refresh_mismatch: {
    cause:
      'The new session refreshes an old one, but has another library, origin or subject, or has more rights, a wider folder or higher limits.',
    steps: [
      'Refresh with the rights that the old session had, or fewer.',
      'For anything else, leave `refresh_of` out and mint a separate session.',
    ],
  },
  invalid_origin: {
    cause:
      'The `o` of the embed URL is not an origin that may embed the picker: it is not https, or has a path or a wildcard.',
    steps: [
      'Use `embed_url` exactly as it was returned.',
      'Mint the session for `https://host[:port]`, or for `http://localhost:<port>` while you develop.',
    ],
  },
  session_expired: {
    cause: 'The library session has reached the lifetime that it was minted for, at most an hour.',
    steps: [
      MINT_AGAIN,
      'To continue a session, send the old token as `refresh_of` within 10 minutes after it expires.',
    ],
  },
  session_revoked: {
    cause:
      'The sessions of this project or of this subject were revoked after this one was minted, or its library was deleted.',
    steps: ['Check that the user still has access, and that the library exists.', MINT_AGAIN],
  },
  minting_key_revoked: {
    cause: 'The API key that minted this session was revoked or rotated, which ended its sessions.',
    steps: ['Give your server the current key.', MINT_AGAIN],
  },
  invalid_session: {
    cause:
      'The token is not a valid library session of this service: it was truncated, changed, or signed with a key that is no longer known.',
    steps: ['Send the token (`ls1.…`) exactly as it was returned.', MINT_AGAIN],
  },
  scope_missing: {
    cause:
      'The API key may mint sessions, but lacks a scope that the permissions need: files:read for browsing, files:write for uploads, urls:sign if delivery is protected.',
    steps: ['Mint with a key that has these scopes as well.', 'Or request fewer permissions.'],
  },
  origin_not_allowed: {
    cause:
      'The `origin` of the session is not in the `allowed_origins` of the library, nor in those of the default library.',
    steps: [
      'Add the origin, including scheme and port, to `allowed_origins`.',
      'Then mint the session again.',
    ],
  },
  permission_denied: {
    cause:
      'The library session is valid, but was minted without the permission that this call requires.',
    steps: ['Mint a session with `browse`, `browse_own` or `upload`, as the call needs.'],
  },
  invalid_embed_url: {
    cause:
      'The URL of the picker page was changed after it was signed: its path or one of `o`, `exp`, `kid` and `s`.',
    steps: ['Use `embed_url` exactly as it was returned, as the `src` of the frame.', MINT_AGAIN],
  },
  embed_url_expired: {
    cause: 'The URL of the picker page was valid until its `exp`, and that time has passed.',
    steps: [MINT_AGAIN],
  },
  library_sessions_disabled: {
    cause: 'This installation has library sessions and the picker turned off.',
    steps: [
      'If you run the installation: set `TINTYPE_LIBRARY_SESSIONS` to `enabled`.',
      'Until then, upload from your own page with upload sessions.',
    ],
  },
  subject_key_unavailable: {
    cause:
      'Subjects are protected with a key before they are stored. This installation has no such key, so subjects can be neither stored nor looked up.',
    steps: [
      'If you run the installation: set `TINTYPE_TOKEN_KEYS`, from which the key that protects subjects is derived.',
      'Until then, leave out filters by uploader.',
    ],
  },
  sessions_recently_revoked: {
    cause:
      'Sessions were revoked a moment ago, and a new one could not be told apart from them yet.',
    steps: ['Wait the number of seconds in `Retry-After`, then mint again.'],
  },
  session_upload_limit: {
    cause: 'The library session has created as many uploads as its `max_uploads` allows.',
    steps: [MINT_AGAIN, 'If users upload a lot, mint with a higher `max_uploads`, up to 1,000.'],
  },
  embed_unavailable: {
    cause:
      'A script or style of the picker page is missing: the installation is being replaced, or is incomplete.',
    steps: [
      'Try again after a few seconds.',
      'If you run the installation: check that every process runs the same release.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
