// The signature of the picker page's URL. Spec: Authentication, Credentials, EmbedUrlSignature: s = base64url
// hmac-sha256(embed secret for kid, 'embed1|<project>|<library>|<o>|<exp>'). It is verified without the database.
import { findKey, type NamedKey, parseUnixSeconds, signFields, verifyFields } from './hmac.ts';

const PREFIX = 'embed1';

/** The `s` parameter; `o` is the embedding origin, `exp` in Unix seconds. */
export function signEmbedUrl(embed: {
  readonly key: Uint8Array;
  readonly project: string;
  readonly library: string;
  readonly o: string;
  readonly exp: number;
}): string {
  const { project, library, o, exp } = embed;
  return signFields(embed.key, '|', [PREFIX, project, library, o, String(exp)]);
}

/** Verifies o, exp, kid and s exactly as they were in the query. */
export function verifyEmbedUrl(embed: {
  readonly keys: readonly NamedKey[];
  readonly project: string;
  readonly library: string;
  readonly query: { readonly o: string; exp: string; kid: string; s: string };
  readonly now_seconds: number;
}): 'valid' | 'invalid_embed_url' | 'embed_url_expired' {
  const { o, exp: expText, kid, s } = embed.query;
  const key = findKey(embed.keys, kid);
  const fields = [PREFIX, embed.project, embed.library, o, expText];
  const isSigned = verifyFields(key === undefined ? [] : [key], '|', { fields, sig: s });
  const exp = parseUnixSeconds(expText);
  if (!isSigned || exp === undefined) return 'invalid_embed_url';
  return embed.now_seconds < exp ? 'valid' : 'embed_url_expired';
}
