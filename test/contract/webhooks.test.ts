// The webhook of an upload as a tenant's server receives it: signed, retried until it is accepted, and listed in the
// delivery log. Stripe's SDK, an independent implementation, verifies it.
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallbackServer, startCallbackServer, status } from '../support/callback-server.ts';
import { over, quarters } from '../support/pictures.ts';
import { type Caller, withKey, withSession } from './support/client.ts';
import { removeFolder, startTintype, type Tintype } from './support/tintype.ts';
import { upload } from './support/upload.ts';

const { webhooks } = new Stripe('sk_test_none');
let tintype: Tintype;
let endpoint: CallbackServer;
let owner: Caller;
let secret = '';

beforeAll(async () => {
  endpoint = await startCallbackServer();
  tintype = await startTintype({ env: { TINTYPE_CALLBACK_EGRESS: 'any' } });
  owner = await withSession(tintype, 'alice');
  await owner('POST', '/v1/projects', { project_slug: 'shop' });
  const answer = await owner('PATCH', '/v1/projects/shop', {
    callback_url: `${endpoint.url}/hook`,
  });
  secret = answer.body.callback_secret;
});
afterAll(async () => {
  await tintype.end('SIGTERM');
  await removeFolder(tintype.data);
  await endpoint.close();
});

const deliveries = async (query = '') =>
  (await owner('GET', `/v1/projects/shop/webhook-deliveries${query}`)).body.items;

describe('webhooks of a deployment', { shuffle: false }, () => {
  describe('an upload that is ready', () => {
    it('sends a webhook whose signature an independent library verifies', async () => {
      const made = await owner('POST', '/v1/projects/shop/keys', { name: 'server' });
      const server = withKey(tintype, made.body.plaintext_secret);
      const bytes = await over(quarters(16, 16)).png().toBuffer();
      const picture = { bytes, content_type: 'image/png', file_slug: 'cat' };
      const { upload_id, file_id } = await upload(server, 'shop', picture);
      await expect.poll(() => endpoint.seen.length).toBe(1);
      const { headers, body } = endpoint.seen[0] ?? expect.fail('nothing came');
      const event = webhooks.constructEvent(body, String(headers['x-service-signature']), secret);
      expect(event).toMatchObject({
        id: `upload.ready:${upload_id}`,
        event: 'upload.ready',
        data: { upload_id, file_id, file_slug: 'cat', revision: 1 },
      });
      expect(headers).toMatchObject({
        'user-agent': 'service-webhooks/2',
        'x-service-event': 'upload.ready',
        'x-service-delivery': `upload.ready:${upload_id}`,
      });
    });
  });

  describe('an endpoint that fails', () => {
    it('is shown in the delivery log with its response, and gets the same body on redelivery', async () => {
      endpoint.answer(status(500, {}, 'out of order'));
      const { id, body } = (await owner('POST', '/v1/projects/shop/webhook-test')).body;
      const failed = async () =>
        (await deliveries('?status=retry%20scheduled'))[0]?.attempts.length;
      await expect.poll(failed).toBe(1);
      const [found] = await deliveries('?event=webhook.test');
      expect(found).toMatchObject({
        id,
        last_status: 500,
        attempts: [{ number: 1, response_excerpt: 'out of order' }],
      });
      endpoint.answer(status(204));
      await owner('POST', `/v1/projects/shop/webhook-deliveries/${id}/redeliver`);
      const delivered = async () => (await deliveries('?event=webhook.test'))[0]?.status;
      await expect.poll(delivered).toBe('delivered');
      const sent = endpoint.seen.filter(({ headers }) => headers['x-service-delivery'] === id);
      expect(sent).toHaveLength(2);
      for (const each of sent) expect(each.body).toBe(body);
    });
  });
});
