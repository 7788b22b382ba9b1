/** The `make up` of a document: what it tells Tintype, as bash reads its line. */
import { execFileSync } from 'node:child_process';
import { readCommands } from './blocks.ts';

/** Variables of the environment, and the words behind `up`. */
export type Start = { env: Record<string, string>; args: string[] };

// It prints its environment and what stands behind its target, as another program would find them.
const MAKE = 'make() { shift; env -0 "$@"; }';
/** Of bash itself. */
const OWN = ['PWD', 'SHLVL', '_'];

/** `under`: the heading of its block. */
export function readStart(document: string, under?: string): Start {
  const commands = readCommands(document, under);
  if (!commands.some((command) => /\bmake up\b/.test(command))) {
    throw new Error(`${document} starts no Tintype`);
  }
  const words = ['--norc', '-euc', [MAKE, ...commands].join('\n')];
  const printed = execFileSync('bash', words, { env: {}, encoding: 'utf8' });
  const found = new Map(
    printed
      .split('\0')
      .filter((each) => each !== '')
      .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
  const args = (found.get('ARGS') ?? '').split(' ').filter((word) => word !== '');
  for (const name of [...OWN, 'ARGS']) found.delete(name);
  return { env: Object.fromEntries(found), args };
}
