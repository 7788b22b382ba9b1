/** A queue that is opened at its first use, so that commands without a need for it run without a broker. */
import type { Queue } from './queue.ts';
import { QueueAway } from './rabbitmq-channel.ts';

/**
 * Each use throws what `open` throws, until it succeeds; after `close` nothing opens it any more.
 */
export function createLazyQueue(open: () => Promise<Queue>): Queue {
  let opening: Promise<Queue> | undefined;
  let isClosed = false;
  const opened = () => {
    if (isClosed) throw new QueueAway();
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    publish: async (...doorbell) => (await opened()).publish(...doorbell),
    consume: async (...listener) => (await opened()).consume(...listener),
    call: async (...question) => (await opened()).call(...question),
    serve: async (...server) => (await opened()).serve(...server),
    repair: async (name) => (await opened()).repair(name),
    depths: async () => (await opened()).depths(),
    close: async () => {
      isClosed = true;
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
