/** A signing key, and the URLs that it signs. Spec: Signing key; Signing keys and signed URLs. */
import { z } from 'zod';
import {
  SIGNED_URL_LIFETIME_SECONDS_DEFAULT,
  SIGNED_URL_LIFETIME_SECONDS_MAX,
  SIGNED_URL_LIFETIME_SECONDS_MIN,
  TRANSFORM_CHAIN_LENGTH_MAX,
} from '../limits.ts';
import { CHAIN_EXPECTED, CHAIN_PATTERN, transformChain } from './chain.ts';
import {
  expected,
  fileSlug,
  isRecordValue,
  oneOf,
  requestBody,
  times,
  timestamp,
  wholeNumber,
} from './wire.ts';

/** A key without its secret; a retired key verifies until retire_after. */
export const signingKeyRecord = z.object({
  kid: z.string(),
  status: z.enum(['active', 'retired']),
  retire_after: timestamp.nullable(),
  ...times,
});

/** A signing key on the wire. */
export type SigningKeyRecord = z.infer<typeof signingKeyRecord>;

/** Response of signed-url. */
export const signedUrlRecord = z.object({
  url: z.string(),
  kid: z.string(),
  expires_at: timestamp,
});

/** A minted URL on the wire. */
export type SignedUrlRecord = z.infer<typeof signedUrlRecord>;

/** Deprecated values of transform_chain that stand for a kind. Spec: Versioning. */
const chainAliases = { originals: 'originals', 'download/raw': 'raw' } as const;

/** What to sign: a derived image with its chain, the original, or the raw download. */
export type SignedTarget =
  | { kind: 'derived'; transform_chain: string }
  | { kind: 'originals' | 'raw'; transform_chain: null };

const MINTED_PATTERN = `^(${Object.keys(chainAliases).join('|')}|${CHAIN_PATTERN})$`;

const mintedChain = z
  .string({ error: expected(CHAIN_EXPECTED) })
  .meta({ maxLength: TRANSFORM_CHAIN_LENGTH_MAX, pattern: MINTED_PATTERN })
  .refine((text) => Object.hasOwn(chainAliases, text) || transformChain.safeParse(text).success, {
    error: ({ input }) => transformChain.safeParse(input).error?.issues[0]?.message,
  });

/** Mint; null counts as absent. */
export const signedUrlBody = requestBody({
  file_slug: fileSlug,
  transform_chain: mintedChain.nullish(),
  kind: oneOf(['derived', 'originals', 'raw']).optional(),
  expires_in_seconds: wholeNumber(
    { min: SIGNED_URL_LIFETIME_SECONDS_MIN, max: SIGNED_URL_LIFETIME_SECONDS_MAX },
    ', or null',
  ).nullish(),
})
  .refine((asked) => typeof resolveTarget(asked) !== 'string', {
    path: ['kind'],
    error: ({ input }) => String(resolveTarget(input as Asked)),
    when: isRecordValue,
  })
  .transform(({ file_slug, expires_in_seconds, ...asked }) => {
    const target = resolveTarget(asked);
    if (typeof target === 'string') return z.NEVER;
    const seconds = expires_in_seconds ?? SIGNED_URL_LIFETIME_SECONDS_DEFAULT;
    return { file_slug, ...target, expires_in_seconds: seconds };
  });

/** The requested URL, with aliases and defaults resolved. */
export type MintSignedUrl = z.infer<typeof signedUrlBody>;

type Asked = {
  transform_chain?: string | null | undefined;
  kind?: SignedTarget['kind'] | undefined;
};

/** The target, or a sentence that says why the two fields contradict each other. */
function resolveTarget({ transform_chain: chain = null, kind }: Asked): SignedTarget | string {
  const alias = chain === 'originals' || chain === 'download/raw' ? chainAliases[chain] : undefined;
  if (alias !== undefined) {
    return kind === undefined || kind === alias
      ? { kind: alias, transform_chain: null }
      : `transform_chain ${chain} stands for kind ${alias}; leave one of them out`;
  }
  if (chain === null) {
    return kind === 'derived'
      ? 'kind derived needs a transform_chain'
      : { kind: kind ?? 'originals', transform_chain: null };
  }
  return kind === undefined || kind === 'derived'
    ? { kind: 'derived', transform_chain: chain }
    : `kind ${kind} takes no transform_chain; leave it out`;
}
