// Spec: Webhook delivery attempt. Each cause reads as a sentence that tells the tenant what is wrong at the endpoint,
// and docs/webhooks.md lists it.
import { readFileSync } from 'node:fs';
import { createServer as createPlain } from 'node:http';
import { createServer as createTls } from 'node:https';
import { type AddressInfo, createServer as createRaw, type Server } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callbackFault } from '../../../runtime/platform/callback-fault.ts';
import { callbackPost } from '../../../runtime/platform/callback-post.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { projectRoot } from '../../house/source-files.ts';
import { makeSelfSigned, type SelfSigned } from '../../support/self-signed.ts';

/** The table of docs/webhooks.md, up to where a sentence is cut. */
const documented = readFileSync(join(projectRoot, 'docs/webhooks.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...(line.split(' | ')[0]?.matchAll(/`([^`]+)`/g) ?? [])])
  .map(([, text = '']) => text.split('…').map((part) => part.trim()));

const isDocumented = (says: string) =>
  documented.some((parts) => parts.every((part) => says.includes(part)));

async function errorOf(url: string): Promise<string | null> {
  const post = callbackPost({ egress: 'any', clock: systemClock });
  const { signal } = new AbortController();
  return (await post({ url, headers: {}, body: '{}', signal })).error;
}

/** The port on which the server listens until the test ends. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const tls = (pair: SelfSigned) => listen(createTls(pair, (_, response) => response.end()));

const certificates: Record<string, SelfSigned> = {
  'the certificate is self-signed or of a private authority: use one of a public certificate authority':
    makeSelfSigned('localhost'),
  'the certificate leads to no public certificate authority: send the whole chain, with the intermediate certificates':
    makeSelfSigned('localhost', { issuer: 'Some intermediate authority' }),
  'the certificate has expired: renew it': makeSelfSigned('localhost', { years: [20, 21] }),
  'the certificate is not valid yet: use one that is': makeSelfSigned('localhost', {
    years: [48, 49],
  }),
};

describe('a callback that gets no answer says', () => {
  it.each(Object.entries(certificates))('%s', async (says, pair) => {
    expect(await errorOf(`https://localhost:${await tls(pair)}/`)).toBe(says);
    expect(isDocumented(says)).toBe(true);
  });

  it('that the certificate is for another host', async () => {
    const pair = makeSelfSigned('elsewhere.test');
    const trusted = getCACertificates();
    setDefaultCACertificates([...trusted, pair.cert]);
    onTestFinished(() => setDefaultCACertificates(trusted));
    const says = await errorOf(`https://localhost:${await tls(pair)}/`);
    expect(says).toBe(
      'the certificate is for another host: use one that names the host of the URL',
    );
    expect(isDocumented(String(says))).toBe(true);
  });

  it('that the port speaks no TLS, or speaks nothing else', async () => {
    const plain = await listen(createPlain((_, response) => response.end()));
    const noTls = await errorOf(`https://localhost:${plain}/`);
    expect(noTls).toBe(
      'no TLS connection could be made: the port must speak https, with TLS 1.2 or 1.3',
    );
    const onlyTls = await errorOf(`http://localhost:${await tls(makeSelfSigned('localhost'))}/`);
    expect(onlyTls).toBe(
      'the endpoint closed the connection before its answer was complete: see its log; a port for https does the same if the URL begins with http:',
    );
    expect([noTls, onlyTls].map(String).every(isDocumented)).toBe(true);
  });

  it('that the answer is not HTTP', async () => {
    const port = await listen(createRaw((socket) => socket.end('220 mail.test ESMTP\r\n')));
    const says = await errorOf(`http://localhost:${port}/`);
    expect(says).toMatch(/^the answer is not HTTP\/1\.1/);
    expect(isDocumented(String(says))).toBe(true);
  });

  it('that nothing listens, at each address of the name', async () => {
    const one = 'nothing listens at 127.0.0.1:9 (ECONNREFUSED)';
    expect(await errorOf('http://127.0.0.1:9/')).toBe(one);
    const [v4, v6] = ['127.0.0.1', '::1'].map((address) =>
      Object.assign(new Error('connect'), { code: 'ECONNREFUSED', address, port: 9 }),
    );
    const says = callbackFault(new AggregateError([v6, v4, v4]));
    expect(says).toBe(`nothing listens at [::1]:9 (ECONNREFUSED); ${one}`);
    expect(isDocumented(says)).toBe(true);
  });

  it('that the name does not resolve', async () => {
    const says = await errorOf('https://nowhere.invalid/');
    expect(says).toMatch(/^nowhere\.invalid does not resolve \((ENOTFOUND|EAI_AGAIN)\)$/);
  });

  it('anything else in one line', () => {
    const error = Object.assign(new Error('one\ntwo\n'), { code: 'ODD' });
    expect(callbackFault(error)).toBe('one two (ODD)');
    expect(isDocumented('one two (ODD)')).toBe(false);
  });
});
