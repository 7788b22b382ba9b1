/**
 * A process that rolls up usage and charges it, and kills itself before its n-th statement.
 * Arguments: the database URL and n. Prints `done` if it finishes first.
 */
import { createDatabase } from '../../runtime/db/client.ts';
import { jobs } from '../../runtime/jobs/table.ts';
import { makeJobs } from './jobs.ts';
import { throughDatabase } from './through-database.ts';

const [url = '', n = ''] = process.argv.slice(2);
const db = createDatabase({ url, maxConnections: 2 });
let statements = 0;

const mortal = throughDatabase(db, (to) => ({
  query: (text, values) => {
    statements += 1;
    if (statements === Number(n)) process.kill(process.pid, 'SIGKILL');
    return to.query(text, values);
  },
}));

const test = await makeJobs(mortal);
test.clock.set(new Date('2026-11-20T12:00:00Z'));
await test.run(jobs['hourly-rollup']);
await test.run(jobs['daily-charge'], new Date('2026-11-20T00:20:00Z'));
await test.close();
await db.close();
console.info('done');
