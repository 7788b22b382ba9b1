/** Plays a writer that undoes what the operator writes. */

type Quarrel = { isAsWritten(): Promise<boolean>; undo(): Promise<unknown> };

/** Undoes writes while `work` runs. Returns how often. */
export async function quarrelling(
  { isAsWritten, undo }: Quarrel,
  work: () => Promise<void>,
): Promise<number> {
  let undone = 0;
  const over = new AbortController();
  const quarrel = async () => {
    while (!over.signal.aborted) {
      if (await isAsWritten()) {
        undone += 1;
        await undo();
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const quarrels = quarrel();
  try {
    await work();
  } finally {
    over.abort();
    await quarrels;
  }
  return undone;
}
