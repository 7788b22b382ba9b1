/** What the options of a command take: what is refused here ends it as used wrongly. */
import { InvalidArgumentError } from 'commander';

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a whole number from 0 (any free one) to 65535.');
}

/** An empty one, of a variable that is not set, would be the folder that the command is called in. */
export function parseFolder(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It names no folder.');
}

/** Nobody would be signed in by an empty one, and only the API would say so; it goes there in a header. */
export function parseSubject(text: string): string {
  const name = text.trim();
  if (name !== '' && !/\p{Cc}/u.test(name)) return name;
  throw new InvalidArgumentError('A subject is the name of a person, such as alice.');
}
