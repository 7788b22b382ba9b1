/** What the fuzzer knows of a parser of input that strangers send. */

/** A text may hold halves of surrogate pairs; bytes are as they come. */
export type Input = string | Buffer;

type Described<Kind extends Input> = {
  /** Of its folder in the corpus, too. */
  name: string;
  /** Sound inputs, made anew: they are mutated, with those that the corpus keeps. */
  seeds(): readonly Kind[] | Promise<readonly Kind[]>;
  /**
   * Reads one input and asserts what holds for every one. It answers what was read, undefined where the parser says so
   * that it is none: inputs that are answered differently are mutated further.
   */
  run(input: Kind): unknown;
  /** Whether those who call the parser expect it to throw this. */
  refuses?: (error: unknown) => boolean;
  length_max?: number;
};

export type Target = Required<Pick<Described<Input>, 'name' | 'seeds' | 'run' | 'refuses'>> & {
  kind: 'text' | 'bytes';
  length_max: number;
};

const LENGTH_MAX = 4096;
const NOTHING = () => false;

export function text(described: Described<string>): Target {
  const { run, refuses = NOTHING, length_max = LENGTH_MAX, ...rest } = described;
  return { ...rest, kind: 'text', refuses, length_max, run: (input) => run(String(input)) };
}

/** Each run gets bytes of its own: a parser that keeps or changes them harms nobody else. */
export function bytes(described: Described<Buffer>): Target {
  const { run, refuses = NOTHING, length_max = LENGTH_MAX, ...rest } = described;
  return { ...rest, kind: 'bytes', refuses, length_max, run: (input) => run(Buffer.from(input)) };
}

/** Errors of a class, with one of these codes where codes are named. */
export function refusals(
  kind: new (...args: never[]) => Error,
  ...codes: readonly string[]
): (error: unknown) => boolean {
  return (error) =>
    error instanceof kind &&
    (codes.length === 0 || ('code' in error && codes.includes(String(error.code))));
}
