/**
 * The forms of texts that actions check with codes of their own (invalid_folder, invalid_subject and others): what the
 * API's document says of them. Spec: Limits, Identifiers and counts.
 */
import { FOLDER_TEXT_LENGTH_MAX } from '../folder.ts';
import {
  FOLDER_LENGTH_MAX,
  FOLDER_LEVELS_MAX,
  SEARCH_LENGTH_MIN,
  SUBJECT_LENGTH_MAX,
  SUBJECT_LENGTH_MIN,
} from '../limits.ts';
import { UNSAFE_CHARACTERS } from '../text.ts';

/** A text that PostgreSQL can store. */
export const STORABLE_PATTERN = '^[^\\u0000]*$';

/** A text without control characters, and without those that change the direction of others. */
export const SAFE_PATTERN = `^[^${UNSAFE_CHARACTERS}]*$`;

/** Of a folder, before it is normalized. */
export const folderForm = {
  maxLength: FOLDER_TEXT_LENGTH_MAX,
  pattern: SAFE_PATTERN,
  description: `Names between slashes; at most ${FOLDER_LEVELS_MAX} levels and ${FOLDER_LENGTH_MAX} characters after superfluous spaces and slashes are removed.`,
};

/** Of the caller's own identifier for an end user. */
export const subjectForm = {
  minLength: SUBJECT_LENGTH_MIN,
  maxLength: SUBJECT_LENGTH_MAX,
  pattern: SAFE_PATTERN,
};

export const searchForm = { minLength: SEARCH_LENGTH_MIN, pattern: STORABLE_PATTERN };

/** Of a text that is cleaned and cut rather than refused: any text is accepted. */
export function cutForm(max: number) {
  return {
    description: `Control characters are removed, and the text is cut to ${max} characters.`,
    'x-cut-length': max,
  };
}

const DAY = '[0-9]{4}-[01][0-9]-[0-3][0-9]';
const TIME = 'T[0-2][0-9]:[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?';
const HOURS = '[0-2][0-9]:[0-5][0-9]';

/** Of a timestamp; `parseInstant` checks the calendar too. */
export const instantForm = { pattern: `^${DAY}${TIME}(Z|[+-]${HOURS})$` };

/** Of a timestamp or a day in a query, where the plus sign of an offset arrives as a space. */
export const askedTimeForm = { pattern: `^${DAY}(${TIME}(Z|[ +-]${HOURS}))?$` };
