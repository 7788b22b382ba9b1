// A killed run cannot stop its servers. The next run finds them by the temporary folder in their environment.
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { takeVirtualHost } from './shared-broker.ts';

function environments(): string[] {
  const pids = readdirSync('/proc').filter((name) => Number(name) > 0);
  return pids.flatMap((pid) => {
    try {
      return [readFileSync(`/proc/${pid}/environ`, 'utf8')];
    } catch {
      return [];
    }
  });
}

it('a RabbitMQ server has the temporary folder of its test run in its environment', async () => {
  const { url } = await takeVirtualHost();
  const mark = `RABBITMQ_NODE_PORT=${new URL(url).port}\0`;
  const brokers = environments().filter((each) => each.includes(mark));
  expect(brokers.length).toBeGreaterThan(0);
  expect(brokers.filter((each) => !each.includes(`TMPDIR=${tmpdir()}\0`))).toEqual([]);
}, 300_000);
