/** Somebody who undoes what the operator writes, as fast as they see it. */

type Quarrel = { isAsWritten(): Promise<boolean>; undo(): Promise<unknown> };

/** For as long as the work runs; returns how often it was undone. */
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
