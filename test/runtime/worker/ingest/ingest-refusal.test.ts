// The worker's log line for an image that it rejects.
import sharp from 'sharp';
import { afterAll, expect, it } from 'vitest';
import { createLog } from '../../../../runtime/platform/log.ts';
import { ingestJob } from '../../../../runtime/worker/ingest/ingest-job.ts';
import { readIngestAnswer } from '../../../../runtime/worker/ingest/read-answer.ts';

const DOCTYPE = Buffer.from('<!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg"/>');
const room = async () => true;

// The job leaves its loader blocked for the whole process. A decoder runs nothing else, but this
// process runs other tests.
afterAll(() => sharp.unblock({ operation: ['VipsForeignLoad'] }));

it('the log entry for a rejected image states the reason once, without a stack trace', async () => {
  const answer = await ingestJob({ content_type: 'image/svg+xml' }, [DOCTYPE], room);
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'info', name: 'test', destination });
  try {
    readIngestAnswer({ facts: { ...answer.facts }, parts: [] });
  } catch (error) {
    log.info('an upload was refused', { error });
  }
  const [line] = lines.map((each) => JSON.parse(each));
  expect(line.error.message).toBe('unsupported_media_type: a DOCTYPE');
  expect(line.error.stack).toBe('IngestRefusal: unsupported_media_type: a DOCTYPE');
});
