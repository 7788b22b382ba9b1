/**
 * A process that seals everything anew, and kills itself at the n-th statement of the job. Arguments: the database URL,
 * the keys and n. Prints `done` if the job ends first.
 */
import { createDatabase } from '../../runtime/db/client.ts';
import { manualJobs } from '../../runtime/jobs/table.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { makeJobs } from './jobs.ts';
import { readSealingKeys } from './sealing-keys.ts';

const [url = '', keys = '', n = ''] = process.argv.slice(2);
let sent = 0;
const db = createDatabase({
  url,
  maxConnections: 2,
  intercept: (_statement, work) => {
    sent += 1;
    if (sent === Number(n)) process.kill(process.pid, 'SIGKILL');
    return work();
  },
});
const jobs = await makeJobs(db);
Object.assign(jobs.deps, { sealing: createSealing(readSealingKeys(keys)) });
await jobs.run(manualJobs.reseal);
await jobs.close();
await db.close();
console.info('done');
