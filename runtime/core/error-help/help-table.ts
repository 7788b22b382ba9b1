/**
 * What a page says about a code besides its status and message. A help table has the same codes as its error table, so
 * that a code without help does not compile; the `details` in an example have exactly the keys that the code's row
 * lists.
 */
export type ErrorHelp<Row = unknown> = {
  /** What the caller did or what happened, in one or a few sentences. */
  readonly cause: string;
  /** What to do, in order. */
  readonly steps: readonly string[];
} & (Row extends { readonly details: readonly (infer Key extends string)[] }
  ? { readonly details: { readonly [Name in Key]: unknown } }
  : { readonly details?: never });

export type HelpTable<Rows> = { readonly [Code in keyof Rows]: ErrorHelp<Rows[Code]> };
