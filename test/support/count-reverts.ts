/** Plays a writer that undoes what the operator writes. */

type Reverter = { isAsWritten(): Promise<boolean>; undo(): Promise<unknown> };

/** Undoes writes while `work` runs. Returns how often. */
export async function countReverts(
  { isAsWritten, undo }: Reverter,
  work: () => Promise<void>,
): Promise<number> {
  let reverts = 0;
  const over = new AbortController();
  const revert = async () => {
    while (!over.signal.aborted) {
      if (await isAsWritten()) {
        reverts += 1;
        await undo();
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const reverting = revert();
  try {
    await work();
  } finally {
    over.abort();
    await reverting;
  }
  return reverts;
}
