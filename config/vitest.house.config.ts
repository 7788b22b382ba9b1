// The tests of the house rules (layers, sizes, words): they need no server and are part of `make check`.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/house/**/*.test.ts'],
    // The other checks run at the same time.
    testTimeout: 60_000,
  },
});
