/**
 * `node test/bench/hostile-soak.ts 10`: runs the tests' hostile corpus with that multiple of its seeds, and prints a
 * table of the outcomes, the slowest files, and everything that was neither ready nor refused by a code.
 */
import { hostileCorpus } from '../support/hostile-corpus.ts';
import { type Outcome, outcomesOf, printTable, startDecoders } from '../support/hostile-run.ts';

/** Includes the code of three timeouts, for a machine too busy to meet the wall-clock limit. */
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
