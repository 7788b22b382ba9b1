/** What is made of an object that nobody changes, made once for as long as there is the object. */

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
