/** A queue that counts the tasks of each kind that this process is working on: a scaler must not end them. */
import type { Queue, QueueName } from './queue.ts';

export type CountedQueue = Queue & { inHand(): Readonly<Partial<Record<QueueName, number>>> };

export function countedQueue(queue: Queue): CountedQueue {
  const counts: Partial<Record<QueueName, number>> = {};
  const counted = async <T>(name: QueueName, work: () => Promise<T>): Promise<T> => {
    counts[name] = (counts[name] ?? 0) + 1;
    try {
      return await work();
    } finally {
      counts[name] = (counts[name] ?? 1) - 1;
    }
  };
  const begin = (name: QueueName) => {
    counts[name] ??= 0;
  };
  return {
    ...queue,
    consume: (name, options, handle) => {
      begin(name);
      return queue.consume(name, options, (message) => counted(name, () => handle(message)));
    },
    serve: (name, options, handle) => {
      begin(name);
      return queue.serve(name, options, (payload, signal) =>
        counted(name, () => handle(payload, signal)),
      );
    },
    inHand: () => counts,
  };
}
