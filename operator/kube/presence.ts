/** Whether the cluster has an optional type, and who is notified when it appears or disappears. */

export type Presence = {
  note(isPresent: boolean): void;
  /** Calls the handler for later changes. */
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
