// A candidate in a separate process, which a test can freeze. It prints when its term begins and ends, and each write.
import { readFileSync } from 'node:fs';
import { runElector } from '../../../operator/kube/lease.ts';
import type { PlaneAddress } from '../../support/kube-request.ts';
import { connectKube } from './connect.ts';
import { createQuickClock } from './quick-clock.ts';
import { silentLog } from './silent-log.ts';

const [file = '', namespace = '', times = '1'] = process.argv.slice(2);
const plane = JSON.parse(readFileSync(file, 'utf8')) as PlaneAddress;
const clock = createQuickClock(Number(times));
const say = (word: string, epoch: number) => process.stdout.write(`${word} ${epoch}\n`);

const elector = runElector({
  ...connectKube(plane, { clock }),
  ...{ namespace, name: 'operator', identity: `process-${process.pid}`, clock, log: silentLog },
  lead: (term) =>
    new Promise((resolve) => {
      say('begins', term.epoch);
      const writing = setInterval(() => term.isCurrent() && say('writes', term.epoch), 10);
      const end = () => {
        clearInterval(writing);
        say('ends', term.epoch);
        resolve();
      };
      if (term.signal.aborted) end();
      else term.signal.addEventListener('abort', end, { once: true });
    }),
});
process.once('SIGTERM', () => void elector.stop().then(() => process.exit(0)));
