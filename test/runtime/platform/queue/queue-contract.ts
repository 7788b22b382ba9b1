/** The contract of every queue: run against the in-process queue and a real RabbitMQ. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Queue, QueueBusy, QueueTimeout } from '../../../../runtime/platform/queue/queue.ts';
import { createGate } from '../../../support/gate.ts';

const soon = { timeout: 60_000, interval: 10 };

/** `open` returns an empty queue of its own; at most `waitingMax` calls can wait in it. */
export function describeQueue(name: string, open: () => Promise<Queue>, waitingMax: number): void {
  describe(name, () => {
    let queue: Queue;
    beforeEach(async () => {
      queue = await open();
    });
    afterEach(() => queue.close());

    describe('doorbells', () => {
      it('are kept until a consumer listens and are then handled in order', async () => {
        for (let n = 0; n < 20; n += 1) await queue.publish('ingest', { upload_id: `upl_${n}` });
        const seen: unknown[] = [];
        await queue.consume('ingest', { slots: 1 }, async (message) => void seen.push(message));
        await expect.poll(() => seen.length, soon).toBe(20);
        expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => ({ upload_id: `upl_${n}` })));
      });

      it('are never handled by more concurrent handlers than there are slots', async () => {
        const gate = createGate();
        const count = { running: 0, most: 0, handled: 0 };
        await queue.consume('ingest', { slots: 3 }, async () => {
          count.running += 1;
          count.most = Math.max(count.most, count.running);
          await gate.opened;
          count.running -= 1;
          count.handled += 1;
        });
        await Promise.all(Array.from({ length: 20 }, (_, n) => queue.publish('ingest', { n })));
        await expect.poll(() => count.running, soon).toBe(3);
        // Leave time for a fourth handler that must not start.
        await sleep(50);
        gate.open();
        await expect.poll(() => count.handled, soon).toBe(20);
        expect(count.most).toBe(3);
      });

      it('that fail are not handled again and do not affect later ones', async () => {
        const seen: unknown[] = [];
        await queue.consume('ingest', { slots: 1 }, async (message) => {
          seen.push(message);
          throw new Error('no');
        });
        await queue.publish('ingest', { n: 1 });
        await queue.publish('ingest', { n: 2 });
        await expect.poll(() => seen.length, soon).toBe(2);
        // If a failed doorbell were redelivered, it would be handled before this one.
        await queue.publish('ingest', { n: 3 });
        await expect.poll(() => seen, soon).toContainEqual({ n: 3 });
        expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
      });

      it('deliver the message as published, not as changed since', async () => {
        const message = { n: 1 };
        await queue.publish('render', message);
        message.n = 2;
        const seen: unknown[] = [];
        await queue.consume('render', { slots: 1 }, async (got) => void seen.push(got));
        await expect.poll(() => seen, soon).toEqual([{ n: 1 }]);
      });

      it('use a queue that mend finds sound', async () => {
        expect(await queue.repair('ingest')).toBe('sound');
      });

      it('are shared among the consumers', async () => {
        const seen = [0, 0];
        const gate = createGate();
        const listen = (at: 0 | 1) =>
          queue.consume('ingest', { slots: 1 }, async () => {
            seen[at] = (seen[at] ?? 0) + 1;
            await gate.opened;
          });
        await Promise.all([listen(0), listen(1)]);
        await Promise.all([queue.publish('ingest', {}), queue.publish('ingest', {})]);
        await expect.poll(() => seen, soon).toEqual([1, 1]);
        gate.open();
      });
    });

    describe('calls', () => {
      const waiting = async () =>
        (await queue.depths()).find((each) => each.queue === 'tintype.render.calls')?.waiting;

      it('resolve with the result of the handler, bytes included, and reject with its error', async () => {
        await queue.serve('render', { slots: 2, waiting_max: 2 }, async (payload) => {
          if (payload === 'bad') throw new Error('refused');
          return { got: payload, bytes: Buffer.alloc(100_000, 7), none: null };
        });
        const answer = await queue.call('render', { a: [1] }, { deadline_ms: 5000 });
        expect(answer).toMatchObject({ got: { a: [1] }, none: null });
        const { bytes } = answer as { bytes: Uint8Array };
        expect(Buffer.from(bytes).equals(Buffer.alloc(100_000, 7))).toBe(true);
        await expect(queue.call('render', 'bad', { deadline_ms: 5000 })).rejects.toThrow('refused');
      });

      it('accept a deadline in fractions of a millisecond', async () => {
        await queue.serve('render', { slots: 1, waiting_max: 2 }, async () => 'done');
        expect(await queue.call('render', 1, { deadline_ms: 4999.75 })).toBe('done');
      });

      it('reject with the kind of error that the handler throws', async () => {
        await queue.serve('render', { slots: 1, waiting_max: 2 }, async (payload) => {
          throw payload === 'busy' ? new QueueBusy('render', 7) : new QueueTimeout('render', 9);
        });
        const busy = queue.call('render', 'busy', { deadline_ms: 5000 });
        await expect(busy).rejects.toMatchObject({ name: 'QueueBusy', retry_after_seconds: 7 });
        await expect(busy).rejects.toBeInstanceOf(QueueBusy);
        const late = queue.call('render', 'late', { deadline_ms: 5000 });
        await expect(late).rejects.toBeInstanceOf(QueueTimeout);
      });

      it('beyond slots and waiting places are rejected as busy, with a retry time', async () => {
        const gate = createGate();
        let started = 0;
        await queue.serve('render', { slots: 1, waiting_max: waitingMax }, () => {
          started += 1;
          return gate.opened;
        });
        const call = (n: number) => queue.call('render', n, { deadline_ms: 10_000 });
        const taken = [call(0)];
        await expect.poll(() => started, soon).toBe(1);
        for (let n = 1; n <= waitingMax; n += 1) taken.push(call(n));
        await expect.poll(waiting, soon).toBe(waitingMax);
        const refused = await call(99).then(
          () => undefined,
          (error: QueueBusy) => error,
        );
        expect(refused).toBeInstanceOf(QueueBusy);
        expect(refused?.retry_after_seconds).toBeGreaterThanOrEqual(1);
        expect(refused?.retry_after_seconds).toBeLessThanOrEqual(30);
        gate.open();
        await Promise.all(taken);
      });

      it('time out at the deadline and abort the handler', async () => {
        const aborted = Promise.withResolvers<unknown>();
        await queue.serve('render', { slots: 1, waiting_max: 1 }, async (_, signal) => {
          signal.addEventListener('abort', () => aborted.resolve(signal.reason));
          await aborted.promise;
        });
        const call = queue.call('render', 1, { deadline_ms: 100 });
        await expect(call).rejects.toBeInstanceOf(QueueTimeout);
        await expect(aborted.promise).resolves.toBeInstanceOf(QueueTimeout);
      });

      it('that time out while they wait never run', async () => {
        const gate = createGate();
        const ran: unknown[] = [];
        await queue.serve('render', { slots: 1, waiting_max: 4 }, async (payload) => {
          ran.push(payload);
          await gate.opened;
        });
        const first = queue.call('render', 'first', { deadline_ms: 10_000 });
        await expect.poll(() => ran, soon).toEqual(['first']);
        const late = queue.call('render', 'late', { deadline_ms: 50 });
        await expect(late).rejects.toBeInstanceOf(QueueTimeout);
        await expect.poll(waiting, soon).toBe(0);
        gate.open();
        await first;
        await queue.call('render', 'next', { deadline_ms: 10_000 });
        expect(ran).toEqual(['first', 'next']);
      });

      it('time out when nobody serves', async () => {
        const call = queue.call('render', 1, { deadline_ms: 50 });
        await expect(call).rejects.toBeInstanceOf(QueueTimeout);
      });

      it('reject with the reason of a caller that aborts, and abort the handler', async () => {
        const caller = new AbortController();
        const gate = createGate();
        let started = 0;
        const aborted = Promise.withResolvers<void>();
        await queue.serve('render', { slots: 1, waiting_max: 1 }, async (_, signal) => {
          signal.addEventListener('abort', () => aborted.resolve());
          started += 1;
          await gate.opened;
        });
        const call = queue.call('render', 1, { deadline_ms: 60_000, signal: caller.signal });
        call.catch(() => undefined);
        await expect.poll(() => started, soon).toBe(1);
        const gone = new Error('the client went away');
        caller.abort(gone);
        await expect(call).rejects.toBe(gone);
        await aborted.promise;
        gate.open();
      });
    });

    describe('closing', () => {
      it('waits for running handlers', async () => {
        const gate = createGate();
        const begun = createGate();
        const ended: string[] = [];
        await queue.consume('ingest', { slots: 1 }, async () => {
          begun.open();
          await gate.opened;
          ended.push('handler');
        });
        await queue.publish('ingest', {});
        await begun.opened;
        const closed = queue.close().then(() => ended.push('closed'));
        // Leave time for a close that does not wait.
        await sleep(50);
        expect(ended).toEqual([]);
        gate.open();
        await closed;
        expect(ended).toEqual(['handler', 'closed']);
      });

      it('one subscription leaves the queue to the others', async () => {
        const seen: string[] = [];
        const first = await queue.consume(
          'ingest',
          { slots: 1 },
          async () => void seen.push('first'),
        );
        await first.stop();
        await queue.consume('ingest', { slots: 1 }, async () => void seen.push('second'));
        await queue.publish('ingest', {});
        await expect.poll(() => seen, soon).toEqual(['second']);
      });
    });
  });
}
