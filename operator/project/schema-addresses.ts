/** The web addresses that a Project resource declares: origins of its pages, and where its webhooks are sent. Spec: Project. */
import { ORIGIN_LENGTH_MAX, URL_LENGTH_MAX } from '../../runtime/core/limits.ts';
import {
  CALLBACK_URL_PATTERN,
  CORS_ORIGIN_PATTERN,
  IPV4_HOST_PATTERN,
  NUMBERED_HOST_PATTERN,
  parseCallbackUrl,
  parseCorsOrigin,
} from '../../runtime/core/resources/web-address.ts';
import { checked, group, matching, objectName, rotationTrigger, text } from '../fields.ts';

/** In the API server's words: a host that ends in a number is an IPv4 address. */
const HOST_IS_PLAIN = `(!${matching(NUMBERED_HOST_PATTERN)} || ${matching(IPV4_HOST_PATTERN)})`;

const originExpected = 'an origin such as https://shop.example, or * for all';
export const origin = text(originExpected, { max: ORIGIN_LENGTH_MAX })
  .refine((written) => parseCorsOrigin(written) === written, {
    error: ({ input }) => originExpected + sayWritten('it', parseCorsOrigin(String(input))),
  })
  .meta(
    checked(
      `${matching(CORS_ORIGIN_PATTERN)} && !self.matches('^http://.*:80$|^https://.*:443$') && ${HOST_IS_PLAIN}`,
      originExpected,
    ),
  );

const urlExpected = `empty for none, or an https URL of at most ${URL_LENGTH_MAX} characters, its host in ASCII`;
const callbackUrl = text(urlExpected, { min: 0, max: URL_LENGTH_MAX })
  .refine(
    (url) => url === '' || (url.startsWith('https://') && parseCallbackUrl(url) !== undefined),
    { error: ({ input }) => urlExpected + sayWritten('its host', hostAsLookedUp(String(input))) },
  )
  .meta(
    checked(
      `self == '' || (self.startsWith('https://') && ${matching(CALLBACK_URL_PATTERN)} && ${HOST_IS_PLAIN})`,
      urlExpected,
    ),
  );

export const callback = group('{ url, secretName, rotationTrigger }', {
  url: callbackUrl.describe(
    'Where signed webhooks are sent: https, at a public address; empty: nowhere, whatever the API set.',
  ),
  secretName: objectName('the name of a Secret')
    .describe('The Secret that the operator writes, with the key that verifies webhooks.')
    .optional(),
  rotationTrigger: rotationTrigger
    .describe('Change this text to get a new secret; the old one signs along for 24 hours.')
    .optional(),
})
  .refine(({ url, secretName }) => url === '' || secretName !== undefined, {
    error: 'the name of the Secret that the operator writes',
    path: ['secretName'],
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "self.url == '' || has(self.secretName)",
        message: '`secretName` must stand beside a `url`',
      },
    ],
  });

/** An IPv6 address has many spellings, of which the API server's rules cannot tell the one that counts. */
function sayWritten(what: string, spelling: string | undefined): string {
  return spelling === undefined ? '' : ` (${what} is written ${spelling})`;
}

/** The host of a callback URL, where that is not how the URL writes it. */
function hostAsLookedUp(url: string): string | undefined {
  const [, host] = CALLBACK_URL_PATTERN.exec(url) ?? [];
  if (host === undefined || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return host.toLowerCase() === hostname ? undefined : hostname;
}
