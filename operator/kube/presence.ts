/** Whether the cluster has an optional type, and who is told when it comes or goes. */

export type Presence = {
  note(isPresent: boolean): void;
  /** Told from now on. */
  onChange(handler: () => void): void;
};

export function createPresence(): Presence {
  const handlers: (() => void)[] = [];
  let known: boolean | undefined;
  return {
    note: (isPresent) => {
      const isNew = known !== undefined && known !== isPresent;
      known = isPresent;
      if (isNew) for (const handler of handlers) handler();
    },
    onChange: (handler) => void handlers.push(handler),
  };
}
