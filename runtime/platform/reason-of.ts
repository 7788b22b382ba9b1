/** Why a request failed, in words that are never empty. */

/** Happy Eyeballs tries several addresses and fails with the reasons of all. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) {
    const others = error.errors.filter((one) => one !== error);
    return others.map(reasonOf).join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error.message.includes(code)
    ? error.message
    : `${error.message} (${code})`;
}
