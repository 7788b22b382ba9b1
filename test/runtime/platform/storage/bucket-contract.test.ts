import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import {
  createFolderBucket,
  type FolderBucket,
} from '../../../../runtime/platform/storage/folder.ts';
import { folderStorageHandler } from '../../../../runtime/platform/storage/folder-server.ts';
import { describeBucket } from './bucket-contract.ts';

const secret = Buffer.alloc(32, 9);
const folder = mkdtempSync(join(tmpdir(), 'tintype-contract-'));
let server: Server;
let folderBucket: FolderBucket;

beforeAll(async () => {
  mkdirSync(join(folder, 'ingest'));
  const buckets: Record<string, FolderBucket> = {};
  const handle = folderStorageHandler({ buckets, secret, clock: systemClock });
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = { name: 'ingest', folder: join(folder, 'ingest'), publicUrl };
  folderBucket = createFolderBucket({ ...place, secret, clock: systemClock });
  buckets.ingest = folderBucket;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

describeBucket('folder storage', () => folderBucket);
