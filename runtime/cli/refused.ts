/** A file that was not published: one of the service's codes, and a sentence that says what to do. */
import { Advice } from '../platform/advice.ts';

export class Refused extends Advice {
  override readonly name: string = 'Refused';
  readonly code: string;

  constructor(code: string, sentence: string, options: { cause?: unknown } = {}) {
    super(`${code}: ${sentence}`, options);
    this.code = code;
  }
}
