// `tintype call` against real servers: where it sends the session, and which calls it rejects before sending anything.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { makeFolder, removeFolder, runTintype } from '../../contract/support/tintype.ts';
import { writeInstance } from '../../support/instance-file.ts';

let folder: string;
let instance: { api_url: string; issuer: string };
const own = listen();
const other = listen();

beforeAll(async () => {
  folder = await makeFolder();
  const api_url = `http://127.0.0.1:${await own.port}`;
  instance = { api_url, issuer: `${api_url}/identity` };
});
beforeEach(async () => {
  await writeInstance(folder, instance);
  for (const { asked } of [own, other]) asked.length = 0;
});
afterAll(async () => {
  for (const { server } of [own, other]) server.close();
  await removeFolder(folder);
});

const call = (...words: string[]) => runTintype(['call', ...words, '--data', folder]);

it('tintype call sends a bearer token to the running Tintype', async () => {
  const { code, stdout } = await call('GET', '/v1/me?a=//b');
  expect([code, JSON.parse(stdout)]).toEqual([0, { is: 'here' }]);
  expect(own.asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/v1/me?a=//b', expect.stringMatching(/^Bearer /)],
  ]);
});

it('tintype call sends a --sub name in any script as UTF-8', async () => {
  const { code, stderr } = await call('GET', '/v1/me', '--sub', 'é 山😀');
  expect([code, stderr]).toEqual([0, '']);
  const sent = own.asked[0]?.headers['x-identity-user-id'] ?? '';
  expect(Buffer.from(String(sent), 'latin1').toString()).toBe('é 山😀');
});

it('tintype call makes a token for the audience that the running Tintype expects', async () => {
  await writeInstance(folder, { ...instance, environment: { TINTYPE_IDENTITY_AUDIENCE: 'shop' } });
  expect((await call('GET', '/v1/me')).code).toBe(0);
  const claims = own.asked[0]?.headers.authorization?.split('.')[1] ?? '';
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ aud: 'shop' });
});

it('tintype call makes no token if the running Tintype trusts another issuer', async () => {
  const issuer = `http://127.0.0.1:${await other.port}/realms/shop`;
  await writeInstance(folder, { ...instance, issuer });
  const { code, stdout, stderr } = await call('GET', '/v1/me');
  expect([code, stdout, own.asked]).toEqual([1, '', []]);
  expect(stderr).toContain(`accepts tokens of ${issuer}, not its own`);
});

it.each(['//', '/\\', '/\t/', '/\n\\', '\\\\', ' //', 'http://'])(
  'tintype call sends no token to another host named by %j',
  async (signs) => {
    const { code, stdout, stderr } = await call('GET', `${signs}127.0.0.1:${await other.port}/x`);
    expect(other.asked.map(({ headers }) => headers)).toEqual([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('is not a path of the API');
  },
);

it('tintype call rejects a GET with a body', async () => {
  const { code, stdout, stderr } = await call('get', '/v1/me', '{}');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toBe('tintype: a GET has no body: leave it out\n');
});

function listen(): { server: Server; port: Promise<number>; asked: IncomingMessage[] } {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    response.setHeader('content-type', 'application/json').end('{"is":"here"}');
  });
  const port = new Promise<number>((ready) => {
    server.listen(0, '127.0.0.1', () => ready((server.address() as AddressInfo).port));
  });
  return { server, port, asked };
}
