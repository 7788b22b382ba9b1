// A palette PNG that exceeds the size limit when it is re-encoded, seen by a client of the API. The limit is small
// enough for a test. Spec: Processing error codes.
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UploadRecord } from '../../../runtime/core/resources/upload.ts';
import { ingestUpload } from '../../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../../runtime/worker/sandbox/sandbox.ts';
import { useUploads } from '../../support/upload-refusals.ts';

const uploads = useUploads();
const { api, at, home, make, owner, store } = uploads;
const SIDE = 100;
let sandbox: Sandbox;

beforeAll(() => {
  sandbox = createSandbox({
    slots: 1,
    wall_clock_ms: 60_000,
    memory_bytes: 1_000_000_000,
    jobs_per_child: 1000,
    log: api.deps().log,
    entry: new URL('../worker/ingest/strict-decoder.ts', import.meta.url),
  });
});
afterAll(() => sandbox.close());

/** Random dots in as many colors as a palette has: a byte per dot with a palette, three without. */
function dots(colors: number): Promise<Buffer> {
  const data = Buffer.alloc(SIDE * SIDE * 3);
  let state = 1;
  for (let byte = 0; byte < data.length; byte += 3) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const color = (state >> 16) % colors;
    data.set([color, (color * 91) % 256, (color * 37) % 256], byte);
  }
  const raw = { width: SIDE, height: SIDE, channels: 3 as const };
  return sharp(data, { raw }).png({ palette: true, colors: 256, dither: 0, effort: 10 }).toBuffer();
}

async function worked(bytes: Buffer): Promise<UploadRecord> {
  const upload = await make({ size_bytes: bytes.length });
  const { db, clock, log, buckets } = api.deps();
  await store(buckets.ingest, upload, bytes);
  expect((await at(upload, 'complete')).status).toBe(200);
  await ingestUpload({ db, clock, log, buckets, sandbox, ingest_bytes_max: 1e9 }, upload.upload_id);
  return (await owner('GET', `${home.path}/uploads/${upload.upload_id}`)).body;
}

it('a palette PNG that grows too large when re-encoded fails with image_too_large and a logged reason', async () => {
  const upload = await worked(await dots(256));
  expect(upload).toMatchObject({ status: 'failed', error_code: 'image_too_large' });
  const { status, body } = await at(upload, 'complete');
  expect([status, body.error.code]).toEqual([422, 'image_too_large']);
  expect(JSON.stringify(api.logged())).toContain('bytes when re-encoded');
});

it('a palette PNG that stays below the limit is accepted', async () => {
  expect((await worked(await dots(2))).status).toBe('ready');
});
