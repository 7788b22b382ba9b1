/** Encodes JPEGs with libjpeg-turbo's cjpeg, for samplings and codings that sharp cannot write. */
import { execFile } from 'node:child_process';
import type { Picture } from './pictures.ts';

/** Encodes three channels, or one gray channel. */
export function cjpeg(
  { data, width, height, channels }: Picture,
  options: readonly string[],
): Promise<Buffer> {
  const head = `P${channels === 1 ? 5 : 6}\n${width} ${height}\n255\n`;
  return new Promise((resolve, reject) => {
    const settings = { encoding: 'buffer', maxBuffer: 1e8 } as const;
    const child = execFile('cjpeg', options, settings, (error, bytes) =>
      error === null ? resolve(bytes) : reject(error),
    );
    child.stdin?.end(Buffer.concat([Buffer.from(head), data]));
  });
}
