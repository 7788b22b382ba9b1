/**
 * The query of the picker's page. Spec: Library sessions and the picker; Authentication, Credentials,
 * EmbedUrlSignature.
 */
import { plainText, requestQuery } from './wire.ts';

export const embedPageQuery = requestQuery({
  o: plainText('the embedding origin'),
  exp: plainText('the expiry in Unix seconds'),
  kid: plainText('the id of the key that signed'),
  s: plainText('the signature'),
});
