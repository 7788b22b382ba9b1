/**
 * What is read from an object of a cache, read once for each of its states: a cache puts another object in the place of
 * one that changed, and changes none.
 */

export function oncePerObject<From extends object, Read>(
  read: (from: From) => Read,
): (from: From) => Read {
  const known = new WeakMap<From, { value: Read }>();
  return (from) => {
    const found = known.get(from) ?? { value: read(from) };
    known.set(from, found);
    return found.value;
  };
}
