// Text in drawings is rendered with the packaged fonts, no matter which fonts the machine has. Spec: What the service
// does (SVG).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { fontEnvironment } from '../../../../../runtime/worker/sandbox/fonts.ts';
import { useDecoder } from '../../../../support/decoder.ts';

const decoder = useDecoder();

const text = (family: string, words = 'Wiglmi 0123') =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="60"><text y="40" font-size="30" font-family="${family}">${words}</text></svg>`,
  );
const draw = async (family: string, words?: string) => {
  const { mezzanines } = await decoder.ingest(text(family, words), 'image/svg+xml');
  return mezzanines.at(-1)?.bytes ?? Buffer.alloc(0);
};

it('sans-serif, serif and monospaced SVG text is drawn in three different fonts', async () => {
  const drawn = await Promise.all(['sans-serif', 'serif', 'monospace'].map((one) => draw(one)));
  for (const bytes of drawn) {
    const alpha = (await sharp(bytes).stats()).channels.at(-1);
    expect(alpha?.mean).toBeGreaterThan(10);
  }
  expect(new Set(drawn.map((bytes) => bytes.toString('base64'))).size).toBe(3);
});

it.each([
  ['Arial', 'sans-serif'],
  ["'Nobody Has This', Helvetica", 'sans-serif'],
  ['Nobody Has This', 'sans-serif'],
  ['Times New Roman', 'serif'],
  ['Courier New, Consolas', 'monospace'],
])('SVG text in the font %s is drawn as %s', async (family, fallback) => {
  expect((await draw(family)).equals(await draw(fallback))).toBe(true);
});

it.each(['Ж д', 'Ωμέγα', 'é ü ß', '€ ← ✓'])(
  'the packaged fonts have the letters of %s',
  async (words) => {
    const missing = await draw('sans-serif', words.replaceAll(/\S/gu, '\u{f0000}'));
    expect((await draw('sans-serif', words)).equals(missing)).toBe(false);
  },
);

/**
 * Prints a hash of the rendered drawing; runs with the machine's fonts and font settings hidden.
 */
const PROGRAM = `
  const { default: sharp } = await import('sharp');
  const { createHash } = await import('node:crypto');
  const drawn = await sharp(Buffer.from(process.argv[1], 'base64')).raw().toBuffer();
  console.log(createHash('sha256').update(drawn).digest('hex'));`;
const HIDE = `for folder in /usr/share/fonts /usr/local/share/fonts /etc/fonts /var/cache/fontconfig; do
  mkdir -p $folder && mount -t tmpfs none $folder; done; exec "$@"`;

async function drawWithoutFonts(words: string, environment: Record<string, string>) {
  const namespaces = ['--user', '--map-root-user', '--mount', 'bash', '-ec', HIDE, 'bash'];
  const program = [process.execPath, '--input-type=module', '-e', PROGRAM];
  const drawing = text('Arial', words).toString('base64');
  const env = { PATH: process.env.PATH, ...environment };
  const { stdout } = await promisify(execFile)('unshare', [...namespaces, ...program, drawing], {
    env,
  });
  return stdout;
}

it('on a machine without fonts, letters are told apart only with the packaged fonts', async () => {
  expect(await drawWithoutFonts('abc', {})).toBe(await drawWithoutFonts('xyz', {}));
  const [one, other] = await Promise.all(
    ['abc', 'xyz'].map((words) => drawWithoutFonts(words, fontEnvironment())),
  );
  expect(one).not.toBe(other);
});
