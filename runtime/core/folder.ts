/**
 * The folder of a file inside its library: a normalized path, empty for the root.
 * Spec: File (folder); Codes by status (invalid_folder, folder_requires_library).
 */
import { FOLDER_LENGTH_MAX, FOLDER_LEVELS_MAX } from './limits.ts';
import { countCharacters, hasUnsafeCharacters } from './text.ts';

/**
 * Normalizes a folder: NFC, every name trimmed, slashes collapsed and dropped at both ends, case
 * kept. Undefined when a name is '.' or '..', when it contains a control or bidirectional
 * character, or when it is too deep or too long.
 */
export function parseFolder(text: string): string | undefined {
  if (countCharacters(text) > FOLDER_TEXT_LENGTH_MAX || hasUnsafeCharacters(text)) return undefined;
  const names = text.split('/').map(trimName).filter(isNotEmpty);
  if (names.length > FOLDER_LEVELS_MAX || names.some(isDots)) return undefined;
  const folder = names.join('/').normalize('NFC');
  return countCharacters(folder) > FOLDER_LENGTH_MAX ? undefined : folder;
}

/**
 * NFC composes at most this many characters into one, so a longer text is refused before it is
 * normalized. Normalizing takes quadratic time in a run of combining marks: minutes for a body full
 * of them.
 */
const COMPOSED_FROM_MAX = 4;

/** A longer text is no folder, however many of its characters would be removed. */
export const FOLDER_TEXT_LENGTH_MAX = FOLDER_LENGTH_MAX * COMPOSED_FROM_MAX;

/** Whether `folder` is `ancestor` itself or lies below it; both normalized. */
export function isFolderWithin(folder: string, ancestor: string): boolean {
  return ancestor === '' || folder === ancestor || folder.startsWith(`${ancestor}/`);
}

const trimName = (name: string): string => name.trim();
const isNotEmpty = (name: string): boolean => name !== '';
const isDots = (name: string): boolean => name === '.' || name === '..';
