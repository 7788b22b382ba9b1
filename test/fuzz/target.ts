/** Describes a parser of untrusted input to the fuzzer. */

/** A text may contain unpaired surrogates. */
export type Input = string | Buffer;

type Described<Kind extends Input> = {
  /** Also the name of its folder in the corpus. */
  name: string;
  /** Creates valid inputs, which are mutated together with those of the corpus. */
  seeds(): readonly Kind[] | Promise<readonly Kind[]>;
  /**
   * Parses one input and asserts what must hold for every input. Returns the parsed value, or
   * undefined for an invalid input. Inputs with different results are mutated further.
   */
  run(input: Kind): unknown;
  /** Whether callers of the parser expect this error. */
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

/**
 * Copies the bytes for each run, so that a parser that keeps or changes them does not affect
 * others.
 */
export function bytes(described: Described<Buffer>): Target {
  const { run, refuses = NOTHING, length_max = LENGTH_MAX, ...rest } = described;
  return { ...rest, kind: 'bytes', refuses, length_max, run: (input) => run(Buffer.from(input)) };
}

/** Matches errors of a class; if codes are given, with one of these codes. */
export function refusals(
  kind: new (...args: never[]) => Error,
  ...codes: readonly string[]
): (error: unknown) => boolean {
  return (error) =>
    error instanceof kind &&
    (codes.length === 0 || ('code' in error && codes.includes(String(error.code))));
}
