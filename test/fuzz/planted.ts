/** Parsers with one defect each, to test the fuzzer itself. */
import { bytes, refusals, type Target, text } from './target.ts';

export const targets: readonly Target[] = [
  text({
    name: 'never-ends',
    seeds: () => ['key=value', 'a;b'],
    run(input) {
      while (input.includes('==')) input.length;
      return input;
    },
  }),
  bytes({
    name: 'reads-beyond',
    seeds: () => [Buffer.from([4, 1, 2, 3, 4])],
    run(input) {
      const [length = 0] = input;
      if (length > 0 && length < input.length - 8) throw new TypeError(`of ${length} bytes`);
      return input.subarray(1, 1 + length);
    },
  }),
  text({
    name: 'takes-all-memory',
    seeds: () => ['[1,2]'],
    run(input) {
      const kept: string[][] = [];
      while (input.includes('[[')) kept.push(Array<string>(100_000).fill(input));
      return kept.length;
    },
  }),
  text({
    name: 'sound',
    seeds: () => ['{"a":1}'],
    run: (input) => JSON.parse(input) as unknown,
    refuses: refusals(SyntaxError),
  }),
];
