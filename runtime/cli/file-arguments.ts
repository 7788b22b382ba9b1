/**
 * `tintype upload *` in a folder with a file called `-dash.jpg`: the shell passes the name unchanged, and it would be
 * parsed as an option. A word that names an existing file, and is no option, is rewritten as a path.
 */
import { existsSync } from 'node:fs';

const OPTIONS = ['--data', '--project', '--sub', '--slug', '--help', '--'];

/** Takes a whole command line, and changes only that of `upload`. */
export function escapeDashedFiles(words: readonly string[]): string[] {
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
