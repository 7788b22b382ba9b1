/** A named grouping of files inside a project. Spec: Library; Libraries. */
import { z } from 'zod';
import { LIBRARY_ALLOWED_ORIGINS_MAX, LIBRARY_NAME_LENGTH_MAX } from '../limits.ts';
import { EMBED_ORIGIN_PATTERN, parseEmbedOrigin } from './web-address.ts';
import {
  expected,
  listOf,
  nameText,
  pageQuery,
  parsed,
  requestBody,
  requestQuery,
  times,
} from './wire.ts';

/** A library; library_id is null for the built-in default one, which has no times of its own. */
export const libraryRecord = z.object({
  slug: z.string(),
  name: z.string(),
  allowed_origins: z.array(z.string()),
  library_id: z.string().nullable(),
  created_at: times.created_at.nullable(),
  updated_at: times.updated_at.nullable(),
});

/** A library on the wire. */
export type LibraryRecord = z.infer<typeof libraryRecord>;

const ORIGIN = 'an origin: https://host[:port], http://localhost:<port> or http://127.0.0.1:<port>';

/** An origin that may embed the picker. */
export const embedOrigin = z
  .string({ error: expected(ORIGIN) })
  .meta({ pattern: EMBED_ORIGIN_PATTERN.source })
  .transform((text, context) => parsed(context, parseEmbedOrigin(text), ORIGIN));

const ORIGINS = `a list of at most ${LIBRARY_ALLOWED_ORIGINS_MAX} origins`;
const allowedOrigins = listOf(embedOrigin, ORIGINS, { max: LIBRARY_ALLOWED_ORIGINS_MAX });

/** Known fields that are refused with 400 not_supported and listed in details.fields. */
export const unsupportedLibraryFields = ['delivery_access', 'map_enabled'] as const;

const unsupported = {
  delivery_access: z.unknown().optional(),
  map_enabled: z.unknown().optional(),
} satisfies Record<(typeof unsupportedLibraryFields)[number], z.ZodType>;

/** `parseLibrarySlug` removes spaces around it, and changes capitals to small letters. */
const SLUG_PATTERN = '^\\s*[A-Za-z0-9][A-Za-z0-9._-]{0,63}\\s*$';

/**
 * Create; the action refuses `unsupportedLibraryFields` and checks the slug (invalid_library_slug).
 */
export const createLibraryBody = requestBody({
  slug: z.string({ error: expected('the slug of the library') }).meta({ pattern: SLUG_PATTERN }),
  name: nameText(LIBRARY_NAME_LENGTH_MAX),
  allowed_origins: allowedOrigins.optional(),
  ...unsupported,
});

/** The requested library. */
export type CreateLibrary = z.infer<typeof createLibraryBody>;

/** The query of the list. */
export const listLibrariesQuery = requestQuery(pageQuery);

/** Change; the action refuses `unsupportedLibraryFields` and guards the default library. */
export const patchLibraryBody = requestBody({
  name: nameText(LIBRARY_NAME_LENGTH_MAX).optional(),
  allowed_origins: allowedOrigins.optional(),
  ...unsupported,
});

/** The requested change. */
export type PatchLibrary = z.infer<typeof patchLibraryBody>;
