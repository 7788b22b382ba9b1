/**
 * Origins, host names and callback URLs, as people write them: converted to one canonical spelling, or refused. Spec:
 * Project (custom_domains, cors_allowed_origins, callback_url); Library (allowed_origins).
 */
import { HOSTNAME_LENGTH_MAX, ORIGIN_LENGTH_MAX, URL_LENGTH_MAX } from '../limits.ts';
import { countCharacters } from '../text.ts';

/** An origin of a browser page, http or https, or '*'. */
export function parseCorsOrigin(text: string): string | undefined {
  return text === '*' ? text : parseOrigin(text);
}

/**
 * An origin that may embed the picker: https://host[:port], or exactly http://localhost:<port> or
 * http://127.0.0.1:<port>; no path, no wildcard. The port of a local origin is kept, even 80, which
 * browsers leave out.
 */
export function parseEmbedOrigin(text: string): string | undefined {
  const origin = parseOrigin(text);
  if (origin === undefined || origin.startsWith('https://')) return origin;
  const local = text.toLowerCase();
  return LOCAL_ORIGIN.test(local) ? local : undefined;
}

/** A host name of at least two labels, lower-cased; no port, no trailing dot, no IP address. */
export function parseHostname(text: string): string | undefined {
  const name = text.toLowerCase();
  return text.length <= HOSTNAME_LENGTH_MAX && HOSTNAME.test(name) ? name : undefined;
}

/**
 * An absolute http or https URL without user name, password or fragment, unchanged except that its
 * host gets the form used for lookups (xn--… for other scripts, nothing escaped), so that one host
 * has one name. The caller decides whether plain http is allowed, and whether the host is public.
 */
export function parseCallbackUrl(text: string): string | undefined {
  const isLong = countCharacters(text) > URL_LENGTH_MAX;
  const [, host] = (!isLong && CALLBACK_URL_PATTERN.exec(text)) || [];
  if (host === undefined || !text.isWellFormed() || !URL.canParse(text)) return undefined;
  return host.toLowerCase() === new URL(text).hostname ? text : undefined;
}

/** A port number, 1 to 65535, without leading zeros; also valid in RE2. */
export const PORT_NUMBER = String.raw`([1-9]\d{0,3}|[1-5]\d{4}|6([0-4]\d{3}|5([0-4]\d\d|5([0-2]\d|3[0-5]))))`;

/** The form of every callback URL; also valid in RE2. `parseCallbackUrl` also checks the host. */
export const CALLBACK_URL_PATTERN = new RegExp(
  String.raw`^https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:0*${PORT_NUMBER}?)?([/?][^\s\p{Z}\p{Cc}#@\\]*)?$`,
  'u',
);

/**
 * A URL whose host ends in a number: an IPv4 address, or a host that may not be looked up. Also
 * valid in RE2.
 */
export const NUMBERED_HOST_PATTERN = /^https?:\/\/([^/?#]*\.)?(\d+|0[xX][0-9a-fA-F]*)\.?([:/?#]|$)/;

const OCTET = String.raw`(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;

/** A URL whose host is an IPv4 address in its usual form. */
export const IPV4_HOST_PATTERN = new RegExp(
  String.raw`^https?://(${OCTET}\.){3}${OCTET}([:/?#]|$)`,
);

const LOCAL_ORIGIN = /^http:\/\/(?:localhost|127\.0\.0\.1):[0-9]+$/;
const NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const HOSTNAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;
/** Scheme, host (a name or a bracketed address) and port; nothing after them. */
const ORIGIN = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?$/;

/**
 * The form of every canonical CORS origin; also valid in RE2. `parseCorsOrigin` also checks
 * addresses, and whether the port is the default one.
 */
export const CORS_ORIGIN_PATTERN = new RegExp(
  String.raw`^([*]|https?://(${NAME.source.slice(1, -1)}|\[[0-9a-f:.]+\])(:${PORT_NUMBER})?)$`,
);

/**
 * The form of host names in documents: `parseHostname` accepts capitals, and converts them to lower
 * case.
 */
export const HOSTNAME_PATTERN = inAnyCase(HOSTNAME);

/** The form of origins that may embed the picker, in documents; `parseEmbedOrigin` checks more. */
export const EMBED_ORIGIN_PATTERN = new RegExp(
  String.raw`^(https://(${inAnyCase(NAME).source.slice(1, -1)}|\[[0-9A-Fa-f:.]+\])(:${PORT_NUMBER})?|http://(localhost|127[.]0[.]0[.]1):${PORT_NUMBER})$`,
);

function inAnyCase({ source }: RegExp): RegExp {
  return new RegExp(source.replaceAll('a-z', 'A-Za-z'));
}

function parseOrigin(text: string): string | undefined {
  if (text.length > ORIGIN_LENGTH_MAX) return undefined;
  const [, host] = ORIGIN.exec(text.toLowerCase()) ?? [];
  if (host === undefined || !URL.canParse(text)) return undefined;
  const { origin, hostname } = new URL(text);
  return isPlainHost(host, hostname) ? origin : undefined;
}

/**
 * A bracketed address, or a name or IPv4 address that a browser does not rewrite: not 1, nor
 * 0x7f.1.
 */
function isPlainHost(host: string, readAs: string): boolean {
  if (host.startsWith('[')) return true;
  return host === readAs && host.length <= HOSTNAME_LENGTH_MAX && NAME.test(host);
}
