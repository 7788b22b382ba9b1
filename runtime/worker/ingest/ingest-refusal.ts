/** The image itself is at fault: processing ends with this code, at once. Spec: Processing error codes. */
import type { ProcessingErrorCode } from '../../core/errors.ts';

export class IngestRefusal extends Error {
  readonly code: ProcessingErrorCode;
  /** What is wrong with it, for the log. */
  readonly detail: string;

  constructor(code: ProcessingErrorCode, says: string) {
    const detail = says.slice(0, DETAIL_CHARACTERS_MAX);
    super(`${code}: ${detail}`);
    this.name = 'IngestRefusal';
    this.code = code;
    this.detail = detail;
    // No line of ours went wrong: each of a folder of broken files would fill the log with the same calls.
    this.stack = `${this.name}: ${this.message}`;
  }
}

/** Names in the file may stand in it, which are as long as whoever sent it likes. */
const DETAIL_CHARACTERS_MAX = 500;
