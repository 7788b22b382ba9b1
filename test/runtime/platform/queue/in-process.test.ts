import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createInProcessQueue } from '../../../../runtime/platform/queue/in-process.ts';
import { QueueBusy, QueueTimeout } from '../../../../runtime/platform/queue/queue.ts';

/** A door that a handler waits at until the test opens it. */
function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

describe('doorbells', () => {
  it('are kept until somebody listens and are then handled in order', async () => {
    const queue = createInProcessQueue();
    await queue.publish('ingest', { upload_id: 'upl_1' });
    await queue.publish('ingest', { upload_id: 'upl_2' });
    const seen: unknown[] = [];
    await queue.consume('ingest', { slots: 1 }, async (message) => void seen.push(message));
    await turn();
    expect(seen).toEqual([{ upload_id: 'upl_1' }, { upload_id: 'upl_2' }]);
    await queue.close();
  });

  it('are never handled by more handlers at once than there are slots', async () => {
    const queue = createInProcessQueue();
    let running = 0;
    let most = 0;
    let handled = 0;
    await queue.consume('ingest', { slots: 3 }, async () => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      handled += 1;
    });
    await Promise.all(Array.from({ length: 20 }, (_, n) => queue.publish('ingest', { n })));
    while (handled < 20) await turn();
    expect(most).toBe(3);
    await queue.close();
  });

  it('that fail take no other with them', async () => {
    const queue = createInProcessQueue();
    const seen: unknown[] = [];
    await queue.consume('ingest', { slots: 1 }, async (message) => {
      seen.push(message);
      throw new Error('no');
    });
    await queue.publish('ingest', { n: 1 });
    await queue.publish('ingest', { n: 2 });
    while (seen.length < 2) await turn();
    expect(seen).toHaveLength(2);
    await queue.close();
  });

  it('hand over what was published, not what became of the object since', async () => {
    const queue = createInProcessQueue();
    const message = { n: 1 };
    await queue.publish('render', message);
    message.n = 2;
    const seen: unknown[] = [];
    await queue.consume('render', { slots: 1 }, async (got) => void seen.push(got));
    await turn();
    expect(seen).toEqual([{ n: 1 }]);
    await queue.close();
  });
});

describe('calls', () => {
  it('are answered with what the handler returns and fail with what it throws', async () => {
    const queue = createInProcessQueue();
    const refusal = new Error('refused');
    await queue.serve('render', { slots: 2, waiting_max: 2 }, async (payload) => {
      if (payload === 'bad') throw refusal;
      return { got: payload };
    });
    await expect(queue.call('render', 'a', { deadline_ms: 5000 })).resolves.toEqual({ got: 'a' });
    await expect(queue.call('render', 'bad', { deadline_ms: 5000 })).rejects.toBe(refusal);
    await queue.close();
  });

  it('beyond the slots and the waiting places are busy, with an estimate of when to come back', async () => {
    const queue = createInProcessQueue();
    const gate = createGate();
    await queue.serve('render', { slots: 1, waiting_max: 1 }, () => gate.opened);
    const first = queue.call('render', 1, { deadline_ms: 5000 });
    const second = queue.call('render', 2, { deadline_ms: 5000 });
    const third = await queue.call('render', 3, { deadline_ms: 5000 }).then(
      () => undefined,
      (error: QueueBusy) => error,
    );
    expect(third).toBeInstanceOf(QueueBusy);
    expect(third?.retry_after_seconds).toBeGreaterThanOrEqual(1);
    expect(third?.retry_after_seconds).toBeLessThanOrEqual(30);
    gate.open();
    await Promise.all([first, second]);
    await queue.close();
  });

  it('time out at the deadline and tell the handler to stop', async () => {
    const queue = createInProcessQueue();
    const told = Promise.withResolvers<unknown>();
    await queue.serve('render', { slots: 1, waiting_max: 1 }, async (_, signal) => {
      signal.addEventListener('abort', () => told.resolve(signal.reason));
      await told.promise;
    });
    const call = queue.call('render', 1, { deadline_ms: 20 });
    await expect(call).rejects.toBeInstanceOf(QueueTimeout);
    await expect(told.promise).resolves.toBeInstanceOf(QueueTimeout);
    await queue.close();
  });

  it('time out while they wait and then never run', async () => {
    const queue = createInProcessQueue();
    const gate = createGate();
    const ran: unknown[] = [];
    await queue.serve('render', { slots: 1, waiting_max: 4 }, async (payload) => {
      ran.push(payload);
      await gate.opened;
    });
    const first = queue.call('render', 'first', { deadline_ms: 5000 });
    const late = queue.call('render', 'late', { deadline_ms: 20 });
    await expect(late).rejects.toBeInstanceOf(QueueTimeout);
    gate.open();
    await first;
    await queue.close();
    expect(ran).toEqual(['first']);
  });

  it('time out when nobody serves', async () => {
    const queue = createInProcessQueue();
    await expect(queue.call('render', 1, { deadline_ms: 20 })).rejects.toBeInstanceOf(QueueTimeout);
    await queue.close();
  });

  it('end with the reason of the caller who gives up', async () => {
    const queue = createInProcessQueue();
    const caller = new AbortController();
    const seen = Promise.withResolvers<AbortSignal>();
    await queue.serve('render', { slots: 1, waiting_max: 1 }, async (_, signal) => {
      seen.resolve(signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const call = queue.call('render', 1, { deadline_ms: 5000, signal: caller.signal });
    const signal = await seen.promise;
    const gone = new Error('the client went away');
    caller.abort(gone);
    await expect(call).rejects.toBe(gone);
    expect(signal.reason).toBe(gone);
    await queue.close();
  });

  it('go to a second server when the first has no free slot', async () => {
    const queue = createInProcessQueue();
    const gate = createGate();
    await queue.serve('render', { slots: 1, waiting_max: 0 }, () => gate.opened);
    await queue.serve('render', { slots: 1, waiting_max: 0 }, async () => 'second');
    const first = queue.call('render', 1, { deadline_ms: 5000 });
    await expect(queue.call('render', 2, { deadline_ms: 5000 })).resolves.toBe('second');
    gate.open();
    await first;
    await queue.close();
  });
});

describe('closing', () => {
  it('waits for the handlers that run and turns away what waits', async () => {
    const queue = createInProcessQueue();
    const gate = createGate();
    await queue.serve('render', { slots: 1, waiting_max: 5 }, async () => {
      await gate.opened;
      return 'done';
    });
    const running = queue.call('render', 1, { deadline_ms: 5000 });
    const waiting = queue.call('render', 2, { deadline_ms: 5000 });
    const closed = queue.close();
    await expect(waiting).rejects.toBeInstanceOf(QueueBusy);
    gate.open();
    await closed;
    await expect(running).resolves.toBe('done');
    await expect(queue.call('render', 3, { deadline_ms: 5000 })).rejects.toBeInstanceOf(QueueBusy);
  });

  it('of one subscription leaves the queue to the others', async () => {
    const queue = createInProcessQueue();
    const seen: string[] = [];
    const first = await queue.consume('ingest', { slots: 1 }, async () => void seen.push('first'));
    await first.stop();
    await queue.consume('ingest', { slots: 1 }, async () => void seen.push('second'));
    await queue.publish('ingest', {});
    await turn();
    expect(seen).toEqual(['second']);
    await queue.close();
  });
});
