/** Reads what the `make up` command of a document passes to Tintype, by running it in bash. */
import { execFileSync } from 'node:child_process';
import { readCommands } from './blocks.ts';

/** Environment variables, and the arguments of `tintype up`. */
export type Start = { env: Record<string, string>; args: string[] };

// Replaces make with a function that prints its environment and the variables after the target.
const MAKE = 'make() { shift; env -0 "$@"; }';
/** Variables that bash sets itself. */
const OWN = ['PWD', 'SHLVL', '_'];

/** `under` selects the commands below this heading. */
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
