/**
 * The current input of a worker thread, in shared memory: a thread that hangs cannot report its input itself.
 */
import type { Input } from './target.ts';

const BYTES_MAX = 4 * 1024 * 1024;
const HEAD_BYTES = 12;
const at = { serial: 0, length: 1, isText: 2 } as const;

export type SharedInput = {
  write(input: Input): void;
  /** Increases with every input; 0 before the first. */
  serial(): number;
  read(): Input;
};

export const makeShared = () => new SharedArrayBuffer(HEAD_BYTES + BYTES_MAX);

export function openShared(memory: SharedArrayBuffer): SharedInput {
  const head = new Int32Array(memory, 0, 3);
  const body = Buffer.from(memory, HEAD_BYTES);
  return {
    write(input) {
      const isText = typeof input === 'string';
      const length = isText ? body.write(input, 'utf16le') : input.copy(body);
      Atomics.store(head, at.length, length);
      Atomics.store(head, at.isText, isText ? 1 : 0);
      Atomics.add(head, at.serial, 1);
    },
    serial: () => Atomics.load(head, at.serial),
    read() {
      const bytes = Buffer.from(body.subarray(0, Atomics.load(head, at.length)));
      return Atomics.load(head, at.isText) === 1 ? bytes.toString('utf16le') : bytes;
    },
  };
}
