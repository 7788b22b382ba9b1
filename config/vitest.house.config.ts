// The tests of the house itself (layers, sizes, words): no server, part of `make check`.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/house/**/*.test.ts'],
  },
});
