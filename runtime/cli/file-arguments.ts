/**
 * `tintype upload *` in a folder that holds a file called `-dash.jpg`: the shell passes the name as it is, and it would
 * be read as an option. What is the name of a file here, and no option, is written as a path.
 */
import { existsSync } from 'node:fs';

const OPTIONS = ['--data', '--project', '--slug', '--help', '--'];

/** A whole command line: only that of `upload` is changed. */
export function nameDashedFiles(words: readonly string[]): string[] {
  if (words[2] !== 'upload') return [...words];
  return [
    ...words.slice(0, 3),
    ...words.slice(3).map((word) => (isDashedFile(word) ? `./${word}` : word)),
  ];
}

function isDashedFile(word: string): boolean {
  const [name = ''] = word.split('=');
  return word.startsWith('-') && !OPTIONS.includes(name) && existsSync(word);
}
