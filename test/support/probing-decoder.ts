/**
 * A decoder process that decodes nothing, but attempts everything that a decoder must not do. It writes the results to
 * file descriptor 3 as one line of JSON, and runs until its input ends, so that tests can inspect it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync, writeSync } from 'node:fs';

function attempt(work: () => unknown): string {
  try {
    work();
    return 'done';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

const tried = {
  read: attempt(() => readFileSync('/etc/passwd')),
  write: attempt(() => writeFileSync('/tmp/tintype-probe', 'x')),
  start: attempt(() => {
    const { error } = spawnSync('/bin/true');
    if (error) throw error;
  }),
  secrets: Object.keys(process.env)
    .filter((name) => /TINTYPE|AWS|SECRET/.test(name))
    .join(),
};
writeSync(3, `${JSON.stringify(tried)}\n`);
process.stdin.resume();
