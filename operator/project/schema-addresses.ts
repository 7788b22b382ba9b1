/** The web addresses in a Project resource: origins of its pages, and the target of its webhooks. Spec: Project. */
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

/** As an API server rule: a host that ends in a number must be an IPv4 address. */
const HOST_IS_PLAIN = `(!${matching(NUMBERED_HOST_PATTERN)} || ${matching(IPV4_HOST_PATTERN)})`;

const originExpected = 'an origin such as https://shop.example, or * for all';
export const origin = text(originExpected, { max: ORIGIN_LENGTH_MAX })
  .refine((written) => parseCorsOrigin(written) === written, {
    error: ({ input }) => originExpected + describeSpelling('it', parseCorsOrigin(String(input))),
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
    {
      error: ({ input }) =>
        urlExpected + describeSpelling('its host', hostAsLookedUp(String(input))),
    },
  )
  .meta(
    checked(
      `self == '' || (self.startsWith('https://') && ${matching(CALLBACK_URL_PATTERN)} && ${HOST_IS_PLAIN})`,
      urlExpected,
    ),
  );

export const callback = group('{ url, secretName, rotationTrigger }', {
  url: callbackUrl.describe(
    'The https URL, at a public address, that signed webhooks are sent to; empty: none, even if the API set one.',
  ),
  secretName: objectName('the name of a Secret')
    .describe('The Secret that the operator writes, with the key that verifies webhooks.')
    .optional(),
  rotationTrigger: rotationTrigger
    .describe('Change this text to get a new secret; the old one also signs for 24 hours.')
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
        message: '`secretName` must be set with a `url`',
      },
    ],
  });

/**
 * An IPv6 address has many spellings, and the API server's rules cannot recognize the canonical
 * one.
 */
function describeSpelling(what: string, spelling: string | undefined): string {
  return spelling === undefined ? '' : ` (${what} is written ${spelling})`;
}

/** The host of a callback URL in canonical form; undefined if the URL already has it so. */
function hostAsLookedUp(url: string): string | undefined {
  const [, host] = CALLBACK_URL_PATTERN.exec(url) ?? [];
  if (host === undefined || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return host.toLowerCase() === hostname ? undefined : hostname;
}
