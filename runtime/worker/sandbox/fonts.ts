/**
 * Text in drawings uses the fonts of a package, never the machine's: without any font the text would vanish, and with
 * the machine's each worker would draw it differently. Spec: What the service does (SVG).
 */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Makes the decoder's fontconfig see only these fonts. */
export function fontEnvironment(): Record<string, string> {
  const fonts = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json');
  return {
    FONTCONFIG_FILE: fileURLToPath(new URL('./fonts.conf', import.meta.url)),
    XDG_DATA_HOME: dirname(fonts),
  };
}
