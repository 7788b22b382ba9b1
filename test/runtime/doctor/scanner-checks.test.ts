// `tintype doctor` sends a picture to the scanner, and reports its response. Spec: File (status), the automatic
// scanner.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Finding } from '../../../runtime/doctor/check.ts';
import { scannerChecks } from '../../../runtime/doctor/scanner-checks.ts';
import type { Subject } from '../../../runtime/doctor/subject.ts';
import { parseConfig } from '../../../runtime/platform/config.ts';
import {
  type ScannerServer,
  says,
  scores,
  startScannerServer,
} from '../../support/scanner-server.ts';

let server: ScannerServer;
beforeAll(async () => {
  server = await startScannerServer();
});
afterAll(() => server.close());

async function diagnose(env: Record<string, string>): Promise<readonly Finding[]> {
  const config = parseConfig(env);
  const subject: Subject = {
    config,
    db: undefined,
    storage: undefined,
    broker: undefined,
    jwksUrl: undefined,
    cors: 'check',
  };
  return (await Promise.all(scannerChecks.map((check) => check.run(subject)))).flat();
}
const http = () => ({ TINTYPE_SCANNER: 'http', TINTYPE_SCANNER_URL: server.url });

it('the doctor sends the scanner an image, and reports what it scores', async () => {
  server.answer(scores({ nudity: 0, violence: 0.1 }));
  expect(await diagnose(http())).toEqual([
    { outcome: 'ok', says: 'answers, and scores nudity, violence' },
  ]);
  expect(server.seen[0]?.bytes.readUInt16BE(0)).toBe(0xffd8);
});

it('the doctor reports a wrong response of the scanner', async () => {
  server.answer(says(401));
  expect(await diagnose(http())).toMatchObject([
    { outcome: 'wrong', says: 'the scanner answered 401, not 200' },
  ]);
});

it('the doctor skips the check if no scanner is configured', async () => {
  expect(await diagnose({})).toMatchObject([{ outcome: 'skipped' }]);
});
