/**
 * Drawings that hold text are drawn with fonts of a package, never with the machine's: without any the
 * text would vanish, and with the machine's each worker would draw it in its own way.
 * Spec: What the service does (SVG).
 */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Tells the decoder's fontconfig of these fonts only. */
export function fontEnvironment(): Record<string, string> {
  const fonts = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json');
  return {
    FONTCONFIG_FILE: fileURLToPath(new URL('./fonts.conf', import.meta.url)),
    XDG_DATA_HOME: dirname(fonts),
  };
}
