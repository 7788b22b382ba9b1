/** What looks at pictures. Spec: Staff, checks. */
import type { Rendition } from '../../core/delivery/preview-request.ts';
import type { Scores } from '../../core/scan-flags.ts';

export type Scanner = {
  /** What it wants to be sent. */
  readonly rendition: Rendition;
  /** Whether nothing is to be asked now; where not, the next scan tries. */
  isResting(): boolean;
  /** Throws ScannerFault, or the signal's reason. */
  scan(picture: Uint8Array, signal: AbortSignal): Promise<Scores>;
};

/** `refused`: it has looked at this picture, or tried, and says nothing of it. `away`: another one would not do better. */
export class ScannerFault extends Error {
  readonly kind: 'refused' | 'away';
  readonly retry_after_seconds: number;

  constructor(kind: ScannerFault['kind'], says: string, terms: FaultTerms = {}) {
    super(`the scanner ${says}`, { cause: terms.cause });
    this.name = 'ScannerFault';
    this.kind = kind;
    this.retry_after_seconds = terms.retry_after_seconds ?? 0;
  }
}

type FaultTerms = { retry_after_seconds?: number; cause?: unknown };
