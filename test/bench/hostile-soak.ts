/**
 * `node test/bench/hostile-soak.ts 10`: runs the hostile corpus of the tests with ten times its seeds. Prints a table
 * of the outcomes, the slowest files, and every file that is neither ready nor rejected with a code.
 */
import { hostileCorpus } from '../support/hostile-corpus.ts';
import { type Outcome, outcomesOf, printTable, startDecoders } from '../support/hostile-run.ts';

/** Includes timeout, because a busy machine may exceed the wall-clock limit. */
const CODES =
  /^(ready|unsupported_media_type|animated_not_supported|image_too_large|decode_failed|timeout)$/;
const SLOWEST = 20;

const seeds = Number(process.argv[2] ?? 10);
const sandbox = startDecoders();
const outcomes: Outcome[] = [];
for await (const outcome of outcomesOf(sandbox, hostileCorpus({ seeds }))) {
  outcomes.push({ ...outcome, stored: [] });
}
await sandbox.close();

const line = ({ file, result, ms }: Outcome) =>
  `${ms.toFixed(0).padStart(8)} ms  ${result}  ${file.name}`;
const slowest = outcomes.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
const wrong = outcomes.filter(({ result }) => !CODES.test(result));
const text = [
  printTable(outcomes),
  ...slowest.map(line),
  ...wrong.map((one) => `WRONG ${line(one)}`),
];
process.stdout.write(`${text.join('\n')}\n`);
process.exitCode = wrong.length === 0 ? 0 : 1;
