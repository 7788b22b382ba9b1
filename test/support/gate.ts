/** A gate that handlers wait at until the test opens it. */
export function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}
