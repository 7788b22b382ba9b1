// Every command of ours and every field of an answer that a document names exists, also in blocks that only a cluster
// runs.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import openapi from '../../runtime/api/openapi.json' with { type: 'json' };
import { projectRoot, readPages } from './documents.ts';

/** Fences and inline code. */
const CODE = /^```[\s\S]*?^```|`[^`\n]+`/gm;
const code = [...readPages().values()].flatMap((page) => page.match(CODE) ?? []);
const namesIn = (pattern: RegExp) =>
  code.flatMap((text) => [...text.matchAll(pattern)].flatMap(([, name = '']) => name.split('.')));

it('documents name only commands that there are', () => {
  const launcher = join(projectRoot, 'runtime/launcher.js');
  const { stdout } = spawnSync(process.execPath, [launcher, '--help'], { encoding: 'utf8' });
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+)(?= )/gm)].map(([, name = '']) => name);
  const named = new Set(namesIn(/(?<![-./\w])tintype (?!tintype|\S+\/)([a-z][a-z-]*)/g));
  expect(named.size).toBeGreaterThan(10);
  expect([...named].filter((name) => !commands.includes(name))).toEqual([]);
});

it('documents read only fields that answers of the API have', () => {
  const known = JSON.stringify(openapi);
  const named = new Set(namesIn(/jq --raw-output \.([\w.]+)/g));
  expect(named).toContain('plaintext_secret');
  expect([...named].filter((name) => !known.includes(`"${name}":`))).toEqual([]);
});
