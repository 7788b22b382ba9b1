/**
 * The part of Standard Schema (https://standardschema.dev) that a route's input needs: zod, valibot and arktype have
 * it.
 */

export type StandardSchema<Input = unknown, Output = Input> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Verdict<Output> | Promise<Verdict<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
};

type Verdict<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

export type InputOf<Schema> =
  Schema extends StandardSchema<infer Input, infer _Output> ? Input : undefined;
export type OutputOf<Schema> =
  Schema extends StandardSchema<infer _Input, infer Output> ? Output : undefined;
