import { describe, expect, it } from 'vitest';
import { createInProcessQueue } from '../../../../runtime/platform/queue/in-process.ts';
import { QueueBusy } from '../../../../runtime/platform/queue/queue.ts';
import { createGate } from '../../../support/gate.ts';

describe('calls', () => {
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
  it('waits for running handlers and rejects waiting calls as busy', async () => {
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
});
