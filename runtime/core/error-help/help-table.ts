/**
 * What a page on a code says beside its status and message. A table of help has the codes of a table of errors, so
 * that a code without help does not compile, and an example of `details` has exactly the keys that its row lists.
 */
export type ErrorHelp<Row = unknown> = {
  /** What the caller did, or what happened, in a sentence or a few. */
  readonly cause: string;
  /** What to do, in order. */
  readonly steps: readonly string[];
} & (Row extends { readonly details: readonly (infer Key extends string)[] }
  ? { readonly details: { readonly [Name in Key]: unknown } }
  : { readonly details?: never });

/** Help for every code of a table of errors. */
export type HelpTable<Rows> = { readonly [Code in keyof Rows]: ErrorHelp<Rows[Code]> };
