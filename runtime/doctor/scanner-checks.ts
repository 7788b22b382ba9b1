/** Whether the scanner accepts new pictures: it is sent a small grey one. */
import { systemClock } from '../platform/clock.ts';
import { openScanner } from '../platform/scanner/open-scanner.ts';
import { ScannerFault } from '../platform/scanner/scanner.ts';
import { ANSWER_MS_MAX, type Check, type Finding, ok, skipped, wrong } from './check.ts';
import type { Subject } from './subject.ts';

const CONTRACT = 'compare what it answers with docs/scanner.md';

export const scannerChecks: readonly Check<Subject>[] = [
  { area: 'scanner', name: 'a picture', run: tryScanner, advice: CONTRACT },
];

async function tryScanner({ config }: Pick<Subject, 'config'>): Promise<Finding> {
  const scanner = openScanner(config, systemClock);
  if (scanner === undefined) return skipped('TINTYPE_SCANNER is none: nothing is scanned');
  try {
    const scores = await scanner.scan(GREY, AbortSignal.timeout(ANSWER_MS_MAX));
    const names = Object.keys(scores).join(', ');
    return ok(names === '' ? 'answers, and scores nothing' : `answers, and scores ${names}`);
  } catch (error) {
    if (error instanceof ScannerFault) return wrong(error.message, CONTRACT);
    throw error;
  }
}

/** A JPEG of 8 by 8 pixels. */
const GREY = Buffer.from(
  '/9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAIAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AKAA/9k=',
  'base64',
);
