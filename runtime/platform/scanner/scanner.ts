/** A scanner of images. Spec: Staff, checks. */
import type { Rendition } from '../../core/delivery/preview-request.ts';
import type { Scores } from '../../core/scan-flags.ts';

export type Scanner = {
  /** The rendition that it wants to receive. */
  readonly rendition: Rendition;
  /** Whether scans are paused now; after the pause the next scan tries again. */
  isResting(): boolean;
  /** Throws ScannerFault, or the signal's reason. */
  scan(picture: Uint8Array, signal: AbortSignal): Promise<Scores>;
};

/**
 * `refused`: the scanner has tried this image and gives no result. `away`: another image would fail
 * as well.
 */
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
