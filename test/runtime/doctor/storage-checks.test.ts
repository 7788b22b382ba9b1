// `tintype doctor` uploads as a browser does: it follows no redirect, since browsers do not follow one for a preflight.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storageChecks } from '../../../runtime/doctor/storage-checks.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { parseConfig } from '../../../runtime/platform/config.ts';
import type { FolderBucket } from '../../../runtime/platform/storage/folder.ts';
import { folderStorageHandler } from '../../../runtime/platform/storage/folder-server.ts';
import {
  type FolderBuckets,
  makeFolderBuckets,
  openFolderBuckets,
} from '../../support/folder-buckets.ts';

const secret = Buffer.alloc(32, 3);
let made: FolderBuckets;
let storage: Server;
let elsewhere: Server;

beforeAll(async () => {
  made = makeFolderBuckets();
  const served: Record<string, FolderBucket> = {};
  const handle = folderStorageHandler({ buckets: served, secret, clock: systemClock });
  storage = createServer((request, response) => void handle(request, response));
  await listening(storage);
  Object.assign(served, bucketsAt(storage));
  elsewhere = createServer((request, response) => {
    response.writeHead(307, { location: `${addressOf(storage)}${request.url}` }).end();
  });
  await listening(elsewhere);
});
afterAll(() => {
  for (const server of [storage, elsewhere]) server.closeAllConnections();
  for (const server of [storage, elsewhere]) server.close();
  made.remove();
});

const listening = (server: Server) =>
  new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const bucketsAt = (server: Server) =>
  openFolderBuckets(made.folder, { publicUrl: addressOf(server), secret });

async function diagnose(server: Server) {
  const subject = {
    config: parseConfig({}),
    db: undefined,
    storage: { buckets: bucketsAt(server), s3: undefined },
    broker: undefined,
    jwksUrl: undefined,
    cors: 'check',
  } as const;
  const about = ['presigned uploads', 'uploads by browsers (CORS)'];
  const asked = storageChecks.filter(({ name }) => about.includes(name));
  const found = (await Promise.all(asked.map((check) => check.run(subject)))).flat();
  return found.map(({ outcome, says }) => [outcome, says]);
}

it('the doctor finds nothing wrong if the storage accepts uploads at the signed URL', async () => {
  expect(await diagnose(storage)).toEqual([
    ['ok', 'accepted with the signed length, refused with another'],
    ['ok', 'PUT is allowed, ETag is exposed'],
  ]);
});

it('the doctor reports a signed URL that redirects, even to a storage that accepts uploads', async () => {
  expect(await diagnose(elsewhere)).toEqual([
    ['wrong', 'a presigned PUT is refused with 307'],
    ['wrong', 'pages of other origins may not upload (preflight 307)'],
  ]);
});
