import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('./short-of-memory.ts', import.meta.url));

it('a decoder that runs out of memory throws an ordinary error instead of rejecting the image', () => {
  const { stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  expect(stdout).toMatch(/^Error: .*out of memory/);
});
