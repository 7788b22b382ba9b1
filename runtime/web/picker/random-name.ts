/** A random, practically unique name. */
export function randomName(): string {
  return crypto.randomUUID?.() ?? withoutTls();
}

/** Pages without TLS have no randomUUID. */
function withoutTls(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-');
}
