/**
 * A process that sends due webhooks, and kills itself when it reaches a step for the n-th time.
 * Arguments: the database URL, the step and n. Prints `done` if all webhooks are sent first.
 */
import { createDatabase } from '../../runtime/db/client.ts';
import { sendDue, testSender } from './webhooks.ts';

const [url = '', step = '', n = ''] = process.argv.slice(2);
const db = createDatabase({ url, maxConnections: 4 });
let passed = 0;
const sender = testSender(db, {
  failpoint: (name) => {
    if (name === step) passed += 1;
    if (passed === Number(n)) process.kill(process.pid, 'SIGKILL');
  },
});
for (let begun = 1; begun > 0; ) begun = (await sendDue(sender)).length;
await db.close();
console.info('done');
