/** The simplest possible peer: a server that decodes the original for each request and stores nothing. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import sharp, { type FormatEnum } from 'sharp';

const [port = '0', folder = '.'] = process.argv.slice(2);
sharp.cache(false);

createServer((request, response) => {
  void answer(request.url ?? '/').then(
    (bytes) => response.writeHead(200, { 'content-length': bytes.length }).end(bytes),
    () => response.writeHead(404).end(),
  );
}).listen(Number(port), '127.0.0.1');

/** Expects a path such as `/440/webp/name.jpg`. */
async function answer(url: string): Promise<Buffer> {
  const [, width = '', format = 'jpeg', name = ''] = url.split('/');
  const source = await readFile(join(folder, name));
  const picture = sharp(source).resize(Number(width));
  // A quality would turn a PNG into a palette image.
  if (format === 'png') return picture.png().toBuffer();
  return picture
    .toFormat(format as keyof FormatEnum, { quality: format === 'avif' ? 50 : 80 })
    .toBuffer();
}
