// The tests of the house itself (layers, sizes, words): no server, part of `make check`.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/house/**/*.test.ts'],
    // The other checks run beside them.
    testTimeout: 60_000,
  },
});
