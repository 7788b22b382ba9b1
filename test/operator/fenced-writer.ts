// A leader in a separate process, which a test freezes before or inside a transaction. It prints when it is paused,
// continues when it reads a line from its input, and prints the outcome of its write.
import { once } from 'node:events';
import { openFence } from '../../operator/fence.ts';
import { createDatabase } from '../../runtime/db/client.ts';
import { insertOrganization } from '../../runtime/db/organizations.ts';

const [url = '', lease = '', organization_id = '', place = ''] = process.argv.slice(2);
const say = (words: string) => process.stdout.write(`${words}\n`);
const pause = async (words: string) => {
  say(words);
  await once(process.stdin, 'data');
};

const db = createDatabase({ url, idleTransactionTimeoutMs: 500 });
const fence = openFence(db, {
  lease,
  lease_uid: 'lease',
  epoch: 1,
  holder: `process-${process.pid}`,
});
await fence.raise();
try {
  if (place === 'before') await pause('paused');
  await fence.db.transaction(async (tx) => {
    await insertOrganization(tx, { organization_id, name: lease, plan: 'trial' });
    if (place === 'inside') await pause('paused');
  });
  say('written');
} catch (error) {
  say(`failed ${String(error)}`);
}
await db.close();
process.stdin.destroy();
