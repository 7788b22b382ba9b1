/**
 * Raw HTTP requests for everything that parses HTTP: invalid request targets and malformed requests. `%H` stands for
 * the host. Also a client that sends such bytes and reads until the server closes the connection.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

export const RAW_PATH = '/originals/f/cat';

/** A request that is valid except for `path` and `more`. */
export const rawGet = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: %H\r\n${more}\r\n`;

export const strangeTargets: readonly (readonly [what: string, target: string])[] = [
  ['a percent sign', '/originals/f/c%61t'],
  ['an encoded slash', '/originals%2ff/cat'],
  ['an encoded NUL', '/originals/f/cat%00'],
  ['a percent sign in the query', '/originals/f/cat?exp=%31&kid=a&sig=b'],
  ['a backslash', '/originals\\f\\cat'],
  ['two slashes', '//originals/f/cat'],
  ['two slashes inside', '/originals//f/cat'],
  ['two dots', '/x/../originals/f/cat'],
  ['encoded dots', '/x/%2e%2e/originals/f/cat'],
  ['dots above the root', '/../originals/f/cat'],
  ['a dot segment', '/./originals/f/cat'],
  ['upper case', '/originals/f/Cat'],
  ['upper case in the chain', '/RESIZE/2x2/f/cat'],
  ['a semicolon', '/originals/f/cat;a=b'],
  ['a fragment', '/originals/f/cat#x'],
  ['a trailing slash', '/originals/f/cat/'],
  ['a leading zero', '/resize/02x2/f/cat'],
  ['a sign', '/resize/+2x2/f/cat'],
  ['a query', '/originals/f/cat?v=1'],
  ['an empty query', '/originals/f/cat?'],
  ['a doubled parameter', '/originals/f/cat?exp=1&exp=2&kid=a&sig=b'],
  ['no f segment', '/originals/cat'],
  ['nothing but a slash', '/'],
  ['an asterisk', '*'],
];

/**
 * The absolute form, which clients send to proxies. Delivery accepts it; the proxies of
 * docs/deployment.md do not.
 */
export const ABSOLUTE_FORM = ['absolute form', rawGet(`http://%H${RAW_PATH}`)] as const;

const start = `GET ${RAW_PATH} HTTP/1.1\r\n`;

export const improperRequests: readonly (readonly [what: string, text: string])[] = [
  ['two Hosts', `${start}Host: %H\r\nHost: other\r\n\r\n`],
  ['the same Host twice', `${start}Host: %H\r\nHost: %H\r\n\r\n`],
  ['no Host', `${start}\r\n`],
  ['no Host, HTTP/1.0', `GET ${RAW_PATH} HTTP/1.0\r\n\r\n`],
  ['an empty Host', `${start}Host: \r\n\r\n`],
  ['a Host list', `${start}Host: %H, other\r\n\r\n`],
  ['a Host with a path', `${start}Host: %H/x\r\n\r\n`],
  ['a Host with a user', `${start}Host: a@%H\r\n\r\n`],
  ['absolute form of another host', rawGet(`http://other${RAW_PATH}`)],
  ['a target without a slash', rawGet('originals/f/cat')],
  ['a byte beyond ASCII in the target', rawGet('/originals/f/c\xe4t')],
  ['UTF-8 in the query', rawGet('/originals/f/cat?v=\xc3\xa4')],
  ['a space in the target', rawGet('/originals/f/c t')],
  ['a backslash at the start', rawGet('\\originals/f/cat')],
  ['an unknown coding', rawGet(RAW_PATH, 'Transfer-Encoding: xchunked\r\n')],
  ['two codings', rawGet(RAW_PATH, 'Transfer-Encoding: gzip, chunked\r\n')],
  ['identity coding', rawGet(RAW_PATH, 'Transfer-Encoding: identity\r\n')],
  ['chunked twice', rawGet(RAW_PATH, 'Transfer-Encoding: chunked, chunked\r\n')],
  ['a space before the colon', rawGet(RAW_PATH, 'Transfer-Encoding : chunked\r\n')],
  ['coding and length', rawGet(RAW_PATH, 'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n')],
  ['two lengths', rawGet(RAW_PATH, 'Content-Length: 3\r\nContent-Length: 4\r\n')],
  ['a negative length', rawGet(RAW_PATH, 'Content-Length: -1\r\n')],
  ['a folded header', rawGet(RAW_PATH, 'X-A: b\r\n c\r\n')],
  ['a bare LF', `GET ${RAW_PATH} HTTP/1.1\nHost: %H\n\n`],
  ['a bare CR in a value', rawGet(RAW_PATH, 'X-A: b\rc\r\n')],
  ['a NUL in a value', rawGet(RAW_PATH, 'X-A: b\0c\r\n')],
  ['a header that is too large', rawGet(RAW_PATH, `X-A: ${'a'.repeat(20_000)}\r\n`)],
  ['an unknown method', `FETCH ${RAW_PATH} HTTP/1.1\r\nHost: %H\r\n\r\n`],
  ['another version', `GET ${RAW_PATH} HTTP/2.0\r\nHost: %H\r\n\r\n`],
  ['a tunnel', 'CONNECT other:443 HTTP/1.1\r\nHost: %H\r\n\r\n'],
  ['garbage', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n'],
];

/** Sends the text and returns everything received until the server closes the connection. */
export async function sayRaw(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.write(Buffer.from(text, 'latin1'));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

export const statusesIn = (said: string) =>
  [...said.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, code]) => Number(code));
