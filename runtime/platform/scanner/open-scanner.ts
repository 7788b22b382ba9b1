/** Opens the scanner that the environment names. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { openEmbeddedScanner } from './embedded-scanner.ts';
import { openHttpScanner } from './http-scanner.ts';
import type { Scanner } from './scanner.ts';

/** Undefined when none is configured. */
export function openScanner(
  { scanner, scannerUrl: url }: Pick<Config, 'scanner' | 'scannerUrl'>,
  clock: Clock,
): Scanner | undefined {
  if (scanner === 'embedded') return openEmbeddedScanner({ clock });
  // The configuration has ensured that there is an address.
  return scanner === 'http' && url !== undefined ? openHttpScanner({ url, clock }) : undefined;
}
