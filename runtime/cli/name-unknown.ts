/**
 * Answers `tintype help fly` and `tintype fly --help` like `tintype fly`, because the general help would not name the
 * unknown command. `words` are those of the process, with Node and its file; `known` the names of the commands.
 */
export function nameUnknown(words: readonly string[], known: readonly string[]): string[] {
  const [node = '', file = '', word, next] = words;
  const name = word === 'help' ? next : word;
  const isKnown = name === undefined || name.startsWith('-') || known.includes(name);
  return isKnown ? [...words] : [node, file, name];
}
