/**
 * A decoder process that decodes nothing and tries everything that a decoder must not do. It answers on file descriptor
 * 3 with one line of JSON, and stays until its input ends, so that it can be inspected.
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
