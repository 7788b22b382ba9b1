/** `tintype up` on ports that environment variables set: all addresses that it prints use these ports. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { makeStarted, removeFolder, runTintype, startTintype } from './support/tintype.ts';

let data: string;

beforeAll(async () => {
  data = await makeStarted();
});
afterAll(() => removeFolder(data));

it('`tintype up` listens on the ports from the environment, and its addresses name them', async () => {
  const [api, delivery] = [await freePort(), await freePort()];
  const env = { TINTYPE_API_PORT: String(api), TINTYPE_DELIVERY_PORT: String(delivery) };
  const { instance, end } = await startTintype({ data, env, ports: 'named' });
  expect(instance.api_url).toBe(`http://localhost:${api}`);
  expect((await fetch(`${instance.api_url}/healthz`)).status).toBe(200);
  expect(instance.delivery_port).toBe(delivery);
  const viewed = await fetch(`http://127.0.0.1:${delivery}/originals/f/nothing`);
  expect(viewed.status).toBe(404);
  await end('SIGTERM');
});

it('an invalid port from the environment is rejected with the name of its variable', async () => {
  const { code, stderr } = await runTintype(['up', '--data', data], {
    env: { TINTYPE_API_PORT: 'eighty' },
  });
  expect(stderr).toMatch(/'eighty' from env 'TINTYPE_API_PORT' is invalid.*0.*65535/);
  expect(code).toBe(2);
});

it('a port option overrides its variable, and an empty variable counts as unset', async () => {
  const ports = ['--api-port', '8080'];
  const { code, stderr } = await runTintype(['up', '--data', data, ...ports], {
    env: { TINTYPE_API_PORT: '9', TINTYPE_DELIVERY_PORT: '8080' },
  });
  expect(stderr).toContain('need two ports');
  expect(code).toBe(2);
  const { stderr: said } = await runTintype(['up', '--data', data, '--api-port', '8081'], {
    env: { TINTYPE_DELIVERY_PORT: '' },
  });
  expect(said).toContain('need two ports');
});
