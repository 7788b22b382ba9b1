/** The image itself is at fault: processing ends with this code, at once. Spec: Processing error codes. */
import type { ProcessingErrorCode } from '../../core/errors.ts';

export class IngestRefusal extends Error {
  readonly code: ProcessingErrorCode;

  constructor(code: ProcessingErrorCode, detail: string) {
    super(`${code}: ${detail}`);
    this.name = 'IngestRefusal';
    this.code = code;
  }
}
