// A collector that rejects traces costs at most one line a minute in the log.
import { expect, it } from 'vitest';
import { createLog } from '../../../runtime/platform/log.ts';
import { openTelemetry } from '../../../runtime/platform/tracing/open-telemetry.ts';
import { startOtlpServer } from '../../support/otlp-server.ts';

it('a collector that rejects traces is logged once, however many batches there are', async () => {
  const { url, refused, close } = await startOtlpServer();
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'info', name: 'test', destination });
  const { tracer, stop } = openTelemetry({ endpoint: `${url}/nowhere`, name: 'test', log });
  try {
    for (const count of [1, 2, 3]) {
      tracer.open(`batch ${count}`, {}, {}).end();
      await expect.poll(refused).toBe(count);
    }
  } finally {
    await stop();
    await close();
  }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 'warn',
      msg: 'traces do not reach the collector',
      error: { message: expect.stringContaining('404') },
    },
  ]);
});
