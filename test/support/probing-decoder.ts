/**
 * A decoder process that decodes nothing and tries what no decoder may. Answers on file descriptor 3 in one line of
 * JSON, and stays until its input ends, so that it can be looked at.
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
