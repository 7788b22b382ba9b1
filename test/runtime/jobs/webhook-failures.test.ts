// Spec: Events, Delivery format, Signature rules; Webhook delivery attempt.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { verifyWebhook } from '../../../runtime/core/signing/webhook.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { listWebhookAttempts } from '../../../runtime/db/webhook-attempts.ts';
import type { WebhookSender } from '../../../runtime/jobs/webhook-sender.ts';
import { callbackPost } from '../../../runtime/platform/callback-post.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createSealing } from '../../../runtime/platform/sealing.ts';
import { callbackSecretContext } from '../../../runtime/platform/sealing-contexts.ts';
import {
  type CallbackAnswer,
  type CallbackServer,
  startCallbackServer,
  status,
} from '../../support/callback-server.ts';
import { useDatabase } from '../../support/database.ts';
import {
  deliveryRow,
  insertEvent,
  makeCallbackProject,
  makeDue,
  sendDue,
  setCallback,
  testSender,
} from '../../support/webhooks.ts';

const { db } = useDatabase();
const SECRET = 'whsec_first';
const CLOSED =
  'the endpoint closed the connection before its answer was complete: see its log; a port for https does the same if the URL begins with http:';
let endpoint: CallbackServer;
let project: ProjectRow;
let sender: WebhookSender;

beforeAll(async () => {
  endpoint = await startCallbackServer();
});
afterAll(() => endpoint.close());
beforeEach(async () => {
  await db.query('delete from webhook_deliveries');
  endpoint.seen.length = 0;
  endpoint.answer(status(204));
  project = await makeCallbackProject(db, { url: `${endpoint.url}/hook`, secret: SECRET });
  sender = testSender(db);
});

const signatureOf = (index: number) => String(endpoint.seen[index]?.headers['x-service-signature']);

describe('a callback secret that cannot be unsealed', () => {
  const strange = createSealing([{ id: 'gone', key: Buffer.alloc(32, 9) }]);
  const seal = (column: string, also = '') =>
    db.query(`update projects set ${column} = $2 ${also} where project_id = $1`, [
      project.project_id,
      strange.seal(Buffer.from('whsec_x'), callbackSecretContext(project.project_id)),
    ]);

  it('uses up the scheduled attempts, says how to fix it, and never sends anything unsigned', async () => {
    const lines: unknown[] = [];
    const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
    sender = testSender(db, { log: createLog({ level: 'warn', name: 'test', destination }) });
    await seal('callback_secret_sealed');
    const id = await insertEvent(db, project.project_id);
    for (let attempt = 1; attempt <= 10; attempt++) {
      expect(await sendDue(sender)).toEqual([attempt < 10 ? 'failed' : 'abandoned']);
      await makeDue(db);
    }
    expect(await sendDue(sender)).toEqual([]);
    const row = await deliveryRow(db, id);
    expect(row).toMatchObject({ status: 'abandoned', attempt: 10, is_leased: false });
    expect(row?.last_error).toContain('rotate_callback_secret');
    // Once a minute, not for each attempt.
    const msg = 'a callback secret cannot be decrypted';
    expect(lines).toMatchObject([{ level: 'warn', msg, delivery_id: id }]);
    expect(endpoint.seen).toEqual([]);
  });

  it('is left out if it is the previous one, and the new one signs', async () => {
    const until = `, previous_callback_secret_until = now() + interval '1 hour'`;
    await seal('previous_callback_secret_sealed', until);
    await insertEvent(db, project.project_id);
    expect(await sendDue(sender)).toEqual(['delivered']);
    expect(signatureOf(0).match(/v1=/g)).toHaveLength(1);
  });
});

describe('a failed attempt', () => {
  it('is retried nine times with the documented delays and the same body, and then abandoned', async () => {
    endpoint.answer(status(500, {}, 'the shop is closed'));
    const id = await insertEvent(db, project.project_id);
    const delays = [];
    for (let attempt = 1; attempt <= 9; attempt++) {
      expect(await sendDue(sender)).toEqual(['failed']);
      const row = await deliveryRow(db, id);
      expect(row).toMatchObject({ status: 'retry scheduled', attempt, is_leased: false });
      delays.push(row?.delay ?? 0);
      expect(await sendDue(sender)).toEqual([]);
      await makeDue(db);
    }
    const waits = [30, 60, 120, 240, 480, 960, 1920, 3600, 3600];
    for (const [index, wait] of waits.entries()) {
      expect(delays[index]).toBeGreaterThanOrEqual(wait - 0.001);
      expect(delays[index]).toBeLessThanOrEqual(wait + Math.min(60, wait / 10) + 0.001);
    }
    expect(await sendDue(sender)).toEqual(['abandoned']);
    expect(await deliveryRow(db, id)).toMatchObject({
      status: 'abandoned',
      attempt: 10,
      delay: null,
    });
    await makeDue(db);
    expect(await sendDue(sender)).toEqual([]);
    expect(new Set(endpoint.seen.map(({ body }) => body)).size).toBe(1);
    expect(new Set(endpoint.seen.map(({ headers }) => headers['x-service-delivery']))).toEqual(
      new Set([id]),
    );
    const attempts = await listWebhookAttempts(db, [id]);
    expect(attempts.map(({ attempt_number }) => attempt_number)).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
    expect(attempts[0]).toMatchObject({
      asked_by: 'schedule',
      response_status: 500,
      response_excerpt: 'the shop is closed',
      error: 'answered 500: only 2xx acknowledges',
    });
  });

  it('is signed with its own time by the database clock, whatever the local clock says', async () => {
    const sendAstray = async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') });
      await sendDue(sender).finally(() => vi.useRealTimers());
    };
    const timeOf = (index: number) => Number(/^t=(\d+)/.exec(signatureOf(index))?.[1]);
    const databaseSeconds = async () => {
      const [row] = await db.query<{ now: number }>(
        'select floor(extract(epoch from now()))::integer as now',
      );
      return row?.now ?? 0;
    };
    endpoint.answer(status(500));
    const id = await insertEvent(db, project.project_id);
    const before = await databaseSeconds();
    await sendAstray();
    await expect.poll(databaseSeconds).toBeGreaterThan(timeOf(0));
    await makeDue(db);
    await sendAstray();
    const now_seconds = await databaseSeconds();
    expect(timeOf(0)).toBeGreaterThanOrEqual(before);
    expect(timeOf(1)).toBeGreaterThan(timeOf(0));
    expect(timeOf(1)).toBeLessThanOrEqual(now_seconds);
    const attempts = await listWebhookAttempts(db, [id]);
    const started = attempts.map(({ started_at }) => Math.floor(started_at.getTime() / 1000));
    expect(started).toEqual([timeOf(0), timeOf(1)]);
    const { body = '' } = endpoint.seen[1] ?? {};
    const verdict = { secret: SECRET, body, now_seconds: timeOf(0) + 11, tolerance_seconds: 10 };
    const second = { ...verdict, header: signatureOf(1) };
    expect(verifyWebhook({ ...second, now_seconds })).toMatchObject({ valid: true });
    expect(verifyWebhook({ ...verdict, header: signatureOf(0) })).toMatchObject({ valid: false });
  });

  it('waits as long as Retry-After asks, but at least the planned delay and at most about an hour', async () => {
    const asked = [
      ['900', 900],
      ['1', 30],
      ['86400', 3600],
      ['9'.repeat(400), 3600],
      [new Date(Date.now() + 600_000).toUTCString(), 598],
      ['soon', 30],
    ] as const;
    for (const [header, seconds] of asked) {
      endpoint.answer(status(503, { 'Retry-After': header }));
      const id = await insertEvent(db, project.project_id);
      await sendDue(sender);
      const { delay } = (await deliveryRow(db, id)) ?? {};
      expect(delay, header).toBeGreaterThanOrEqual(seconds - 0.001);
      expect(delay, header).toBeLessThanOrEqual(seconds + Math.min(60, seconds / 10) + 3);
      await db.query('delete from webhook_deliveries');
    }
  });

  it('is recorded for any response but 2xx, and for any that is not complete by the deadline', async () => {
    const post = callbackPost({ egress: 'any', clock: systemClock, deadline_ms: 300 });
    const hasty = testSender(db, { post });
    const said: Record<string, CallbackAnswer> = {
      'answered 301: redirects are not followed': (response) =>
        response.writeHead(301, { location: `${endpoint.url}/elsewhere` }).end(),
      'answered 404: only 2xx acknowledges': (response) => response.writeHead(404).end(),
      'no complete answer within 0.3 s': () => {},
    };
    const closed: CallbackAnswer[] = [
      (response) => {
        response.writeHead(200).write('so far');
        setImmediate(() => response.socket?.resetAndDestroy());
      },
      (response) => response.socket?.destroy(),
    ];
    const wayOf = (answer: CallbackAnswer) => [CLOSED, answer] as const;
    for (const [error, answer] of [...Object.entries(said), ...closed.map(wayOf)]) {
      endpoint.answer(answer);
      const id = await insertEvent(db, project.project_id);
      expect(await sendDue(hasty), error).toEqual(['failed']);
      expect(await deliveryRow(db, id)).toMatchObject({ last_error: error });
      await db.query('delete from webhook_deliveries');
    }
    endpoint.answer((response) => {
      response.writeHead(200).write('a body that never ends');
    });
    const id = await insertEvent(db, project.project_id);
    expect(await sendDue(hasty)).toEqual(['failed']);
    const last_error = 'no complete answer within 0.3 s';
    expect(await deliveryRow(db, id)).toMatchObject({ last_status: 200, last_error });
    expect(endpoint.seen.filter(({ path }) => path !== '/hook')).toEqual([]);
  });

  it('is recorded if nothing listens at the endpoint', async () => {
    const url = 'http://127.0.0.1:9/';
    await setCallback(db, { project_id: project.project_id, url, secret: SECRET });
    const id = await insertEvent(db, project.project_id);
    expect(await sendDue(sender)).toEqual(['failed']);
    expect(await deliveryRow(db, id)).toMatchObject({ last_status: null });
    expect((await deliveryRow(db, id))?.last_error).toBe(
      'nothing listens at 127.0.0.1:9 (ECONNREFUSED)',
    );
  });
});

describe('a callback response', () => {
  it('leaves no connection open for the next webhook', async () => {
    const before = endpoint.connections();
    for (let sent = 1; sent <= 2; sent += 1) {
      await insertEvent(db, project.project_id);
      expect(await sendDue(sender)).toEqual(['delivered']);
      expect(endpoint.connections() - before).toBe(sent);
    }
    await db.query('delete from webhook_deliveries');
  });

  it('is read up to 4 KiB, and kept up to a thousand characters, without NUL', async () => {
    endpoint.answer((response) => {
      // The response never ends, so reading more than the limit would hang.
      response.writeHead(200).write(`ok\u0000${'x'.repeat(4096 - 3)}`);
    });
    const id = await insertEvent(db, project.project_id);
    expect(await sendDue(sender)).toEqual(['delivered']);
    const [attempt] = await listWebhookAttempts(db, [id]);
    expect(attempt?.response_excerpt).toBe(`ok${'x'.repeat(998)}`);
  });
});
