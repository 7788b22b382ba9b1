import { expect, it } from 'vitest';
import { createInProcessQueue } from '../../../../runtime/platform/queue/in-process.ts';
import { createLazyQueue } from '../../../../runtime/platform/queue/lazy-queue.ts';

it('a lazy queue opens once at its first use, and again after an attempt that failed', async () => {
  let opened = 0;
  const queue = createLazyQueue(async () => {
    opened += 1;
    if (opened === 1) throw new Error('no broker');
    return createInProcessQueue();
  });
  expect(opened).toBe(0);
  await expect(queue.publish('ingest', { upload_id: 'a' })).rejects.toThrow('no broker');
  await Promise.all([queue.publish('ingest', { upload_id: 'a' }), queue.repair('ingest')]);
  expect(await queue.depths()).toMatchObject([{ waiting: 1 }]);
  expect(opened).toBe(2);
  await queue.close();
});

it('a lazy queue that was never opened closes, and does not open afterwards', async () => {
  let opened = 0;
  const queue = createLazyQueue(async () => {
    opened += 1;
    return createInProcessQueue();
  });
  await queue.close();
  await expect(queue.depths()).rejects.toThrow('the broker is unavailable');
  expect(opened).toBe(0);
});

it('a lazy queue closes even while an attempt to open it fails', async () => {
  const opening = Promise.withResolvers<never>();
  const queue = createLazyQueue(() => opening.promise);
  const asked = queue.depths().catch((error: Error) => error.message);
  const closed = queue.close();
  opening.reject(new Error('no broker'));
  await closed;
  expect(await asked).toBe('no broker');
});
