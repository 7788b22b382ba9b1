// A process that writes usage to a spool, prints `written`, and runs until it is killed.
import { openSpool } from '../../runtime/delivery/spool.ts';

const [folder = '', own = ''] = process.argv.slice(2);
const spool = openSpool(folder, own);
for (const n of [1, 2]) {
  spool.append({ n });
  await spool.closedSegments();
}
spool.append({ n: 3 });
process.stdout.write('written\n');
process.stdin.resume();
