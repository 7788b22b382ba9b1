/** Computes a value once per object that never changes, and keeps it as long as the object exists. */

export function oncePerObject<From extends object, Made>(
  make: (from: From) => Made,
): (from: From) => Made {
  const known = new WeakMap<From, { value: Made }>();
  return (from) => {
    const found = known.get(from) ?? { value: make(from) };
    known.set(from, found);
    return found.value;
  };
}
