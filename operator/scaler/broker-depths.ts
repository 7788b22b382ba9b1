/**
 * How many messages wait on the broker of each installation, over one connection that is kept for as long as its
 * address is unchanged.
 */
import type { Log } from '../../runtime/platform/log.ts';
import type { QueueDepth } from '../../runtime/platform/queue/queue.ts';
import {
  connectRabbit,
  type RabbitConnection,
  withDeadline,
} from '../../runtime/platform/queue/rabbitmq-connection.ts';
import { readDepths } from '../../runtime/platform/queue/rabbitmq-depth.ts';

const CLOSE_MS_MAX = 3000;

export type BrokerDepths = {
  /** Throws if the broker cannot be asked now. */
  read(key: string, url: string): Promise<QueueDepth[]>;
  /** Closes the installation's connection, if any. */
  close(key: string): Promise<void>;
};

export function createBrokerDepths(log: Log): BrokerDepths {
  const open = new Map<string, { url: string; connection: Promise<RabbitConnection> }>();
  const close = async (key: string): Promise<void> => {
    const known = open.get(key);
    open.delete(key);
    // A connection that is still opening is closed once it is open.
    const closed = known?.connection.then((connection) => connection.close());
    if (closed !== undefined) await withDeadline(closed, CLOSE_MS_MAX);
  };
  const connect = async (key: string, url: string): Promise<RabbitConnection> => {
    const known = open.get(key);
    if (known?.url === url) return known.connection;
    await close(key);
    const opened = { url, connection: connectRabbit(url, log) };
    open.set(key, opened);
    opened.connection.catch(() => {
      if (open.get(key) === opened) open.delete(key);
    });
    return opened.connection;
  };
  return {
    read: async (key, url) => readDepths(await connect(key, url), 1),
    close,
  };
}
