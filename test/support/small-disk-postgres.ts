/**
 * A PostgreSQL whose disk is small, as a separate process: `node small-disk-postgres.ts <folder>`, where the folder is
 * a mount point that only this process sees. It prints the URL of its database, and stops when its input ends.
 */
import { startPostgres } from '../../runtime/standalone/postgres.ts';

const [folder = ''] = process.argv.slice(2);
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  min_wal_size: '32MB',
  max_wal_size: '64MB',
};
const server = await startPostgres({ folder, settings });
process.stdout.write(`${server.url}\n`);
process.stdin.once('end', () => void server.stop()).resume();
