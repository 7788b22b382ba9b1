// A model server in the shape that docs/scanner.md asks for. Put your model where `score` is.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const BYTES_MAX = 2 * 1024 * 1024;

/** From 0 to 1 for each thing that it looks for. Throws where the bytes are no picture. */
async function score(jpeg) {
  if (jpeg.readUInt16BE(0) !== 0xffd8) throw new Error('no JPEG');
  return { nudity: 0 };
}

const server = createServer(async (request, response) => {
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (request.method !== 'POST' || !(length <= BYTES_MAX)) return response.writeHead(400).end();
  const jpeg = await buffer(request);
  try {
    const scores = await score(jpeg);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ scores }));
  } catch {
    response.writeHead(422).end();
  }
});

server.listen(Number(process.argv[2] ?? 9000), () => {
  console.log(`listening on ${server.address().port}`);
});
