/** A TypeScript source as JavaScript, line for line: for places where Node does not strip types itself. */
import { stripTypeScriptTypes } from 'node:module';

export function stripTypes(source: string): string {
  return quietly(() => stripTypeScriptTypes(source));
}

/** Node warns that this function may change; an operator can do nothing about it. */
function quietly<Value>(work: () => Value): Value {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
