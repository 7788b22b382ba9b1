/**
 * The broker that all test files of a run share. The main process of the run starts it at the first request and stops
 * it at the end; each test file uses a virtual host of its own.
 */
import { inject } from 'vitest';
import { type RabbitServer, startRabbitServer } from './rabbitmq-server.ts';
import { askFor, type Offered, offer } from './shared-service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A URL that returns the URL of an unused virtual host. The first request starts a broker. */
    brokerUrl: string;
  }
}

export type Broker = Pick<RabbitServer, 'url' | 'stop'>;

/** Creating one at the start of the broker costs little; creating one later takes a whole VM. */
const VIRTUAL_HOSTS = Array.from({ length: 32 }, (_, number) => `shared-${number}`);

/** Runs in the main process of the test run. */
export function offerBroker(): Promise<Offered> {
  const brokers: Promise<RabbitServer>[] = [];
  let unused: string[] = [];
  const take = async () => {
    if (unused.length === 0) {
      unused = [...VIRTUAL_HOSTS];
      brokers.push(startRabbitServer(VIRTUAL_HOSTS));
    }
    const [name, broker] = [unused.shift(), brokers.at(-1)];
    return `${(await broker)?.url}/${name}`;
  };
  return offer(take, async () => {
    await Promise.allSettled(brokers.map(async (broker) => (await broker).stop()));
  });
}

/** A virtual host that nobody else uses; the broker itself stops after the run. */
export async function takeVirtualHost(): Promise<Broker> {
  return { url: await askFor(inject('brokerUrl')), stop: async () => undefined };
}
