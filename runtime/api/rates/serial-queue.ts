/** Runs work one at a time per subject, with a bound on how much waits. Spec: Rates. */
export type SerialQueue = {
  isFull(subject: string): boolean;
  run<Result>(subject: string, work: () => Promise<Result>): Promise<Result>;
};

type Line = { count: number; last: Promise<unknown> };

export function createSerialQueue(waitingMax: number): SerialQueue {
  const lines = new Map<string, Line>();
  return {
    isFull: (subject) => (lines.get(subject)?.count ?? 0) > waitingMax,
    run: async (subject, work) => {
      const line = lines.get(subject) ?? { count: 0, last: Promise.resolve() };
      const turn = line.last.then(work, work);
      line.count += 1;
      line.last = turn;
      lines.set(subject, line);
      try {
        return await turn;
      } finally {
        line.count -= 1;
        if (line.count === 0) lines.delete(subject);
      }
    },
  };
}
