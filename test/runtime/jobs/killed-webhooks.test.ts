// Spec: Webhook delivery attempt; Events (at-least-once, id stable across retries).
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FailpointName } from '../../../runtime/platform/failpoint.ts';
import { type CallbackServer, startCallbackServer } from '../../support/callback-server.ts';
import { useDatabase } from '../../support/database.ts';
import { insertEvent, makeCallbackProject } from '../../support/webhooks.ts';

const { db, url } = useDatabase();
const program = new URL('../../support/killed-webhooks.ts', import.meta.url).pathname;
const EVENTS = 40;
let endpoint: CallbackServer;

beforeAll(async () => {
  endpoint = await startCallbackServer();
});
afterAll(() => endpoint.close());

/**
 * Runs a process that kills itself at the step's n-th time, and then expires its leases. Returns
 * whether it finished first.
 */
async function sendUntil(step: FailpointName, n: number): Promise<boolean> {
  const child = spawn(process.execPath, [program, url(), step, String(n)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const isDone = (await text(child.stdout)).includes('done');
  await db.query(`update webhook_deliveries set lease_until = now() where lease_until is not null`);
  return isDone;
}

describe.each(['webhook.claimed', 'webhook.sent', 'webhook.recorded'] as const)(
  'webhook senders killed at %s',
  (step) => {
    it('lose no event, and repeat only what was in progress', { timeout: 300_000 }, async () => {
      endpoint.seen.length = 0;
      const { project_id } = await makeCallbackProject(db, {
        url: endpoint.url,
        secret: 'whsec_1',
      });
      const ids = [];
      for (let n = 0; n < EVENTS; n++) ids.push(await insertEvent(db, project_id));
      let kills = 0;
      for (let n = 1; !(await sendUntil(step, n)); n += 4) kills += 1;
      expect(kills).toBeGreaterThanOrEqual(3);
      const bodies = new Map<string, Set<string>>();
      for (const { headers, body } of endpoint.seen) {
        const id = String(headers['x-service-delivery']);
        bodies.set(id, new Set([...(bodies.get(id) ?? []), body]));
      }
      expect([...bodies.keys()].toSorted()).toEqual(ids.toSorted());
      for (const same of bodies.values()) expect(same.size).toBe(1);
      const [counted] = await db.query<{ open: number; attempts: number }>(
        `select count(*) filter (where status <> 'delivered')::integer as open,
           sum((select count(*) from webhook_attempts a where a.delivery_id = d.delivery_id))::integer as attempts
         from webhook_deliveries d where project_id = $1`,
        [project_id],
      );
      expect(counted).toEqual({ open: 0, attempts: EVENTS });
      expect(endpoint.seen.length - EVENTS).toBeLessThanOrEqual(kills * UNDER_WAY_MAX);
    });
  },
);

/** The most concurrent calls of one project in one process. */
const UNDER_WAY_MAX = 16;
