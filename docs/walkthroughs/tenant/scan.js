// An uncompressed picture of any size, 4 bytes a pixel: node scan.js 8000 6250 > scan.bmp
import { once } from 'node:events';

const [width = 8000, height = 6250] = process.argv.slice(2).map(Number);
const header = Buffer.alloc(54);
header.write('BM');
header.writeUInt32LE(54 + width * height * 4, 2);
header.writeUInt32LE(54, 10);
header.writeUInt32LE(40, 14);
header.writeInt32LE(width, 18);
header.writeInt32LE(height, 22);
header.writeUInt16LE(1, 26);
header.writeUInt16LE(32, 28);
process.stdout.write(header);

for (let y = 0; y < height; y += 1) {
  const row = Buffer.alloc(width * 4);
  for (let x = 0; x < width; x += 1) {
    row.writeUInt32LE((((x * 255) / width) << 16) | (((y * 255) / height) << 8) | 0x80, x * 4);
  }
  if (!process.stdout.write(row)) await once(process.stdout, 'drain');
}
