/** A TypeScript source as JavaScript, line for line: for whom Node does not do it by itself. */
import { stripTypeScriptTypes } from 'node:module';

export function stripTypes(source: string): string {
  return quietly(() => stripTypeScriptTypes(source));
}

/** Node says of this function that it may change; nobody who runs a service can do anything about it. */
function quietly<Value>(work: () => Value): Value {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
