/** The image itself is at fault: processing ends with this code at once. Spec: Processing error codes. */
import type { ProcessingErrorCode } from '../../core/errors.ts';

export class IngestRefusal extends Error {
  readonly code: ProcessingErrorCode;
  /** What is wrong with the image, for the log. */
  readonly detail: string;

  constructor(code: ProcessingErrorCode, says: string) {
    const detail = says.slice(0, DETAIL_CHARACTERS_MAX);
    super(`${code}: ${detail}`);
    this.name = 'IngestRefusal';
    this.code = code;
    this.detail = detail;
    // Drops the stack, as no code of ours failed: a folder of broken files would fill the log with
    // equal stacks.
    this.stack = `${this.name}: ${this.message}`;
  }
}

/** The detail may contain names from the file, whose length its sender chooses. */
const DETAIL_CHARACTERS_MAX = 500;
