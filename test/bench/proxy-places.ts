/**
 * A Tintype that accepts large bodies and decodes nothing, on each kind of storage, with a view of the stored objects.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { STORAGE_FOLDER } from '../../runtime/platform/storage/folder-buckets.ts';
import { removeFolder, startTintype, type Tintype } from '../contract/support/tintype.ts';
import { makeStorage, type StorageKind } from '../fault/support/storages.ts';
import { BODY_BYTES } from './large-puts.ts';

export type ProxyPlace = {
  kind: StorageKind;
  tintype: Tintype;
  /** Counts complete and incomplete objects and multipart uploads. */
  look(): Promise<{ whole: number; short: number; multiparts: number }>;
  end(): Promise<void>;
};

const LARGE = {
  TINTYPE_PROXY_MAX_BYTES: String(2 * BODY_BYTES),
  TINTYPE_INGEST_MAX_BYTES: String(2 * BODY_BYTES),
  TINTYPE_INGEST_SLOTS: '0',
};
const LISTED_MAX = 1000;

export function startProxyPlace(kind: StorageKind): Promise<ProxyPlace> {
  return kind === 'folder' ? startOnFolder() : startOnS3();
}

async function startOnFolder(): Promise<ProxyPlace> {
  const tintype = await startTintype({ env: LARGE });
  const folder = join(tintype.data, STORAGE_FOLDER);
  return {
    kind: 'folder',
    tintype,
    look: async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      const sizes = files.map(async ({ parentPath, name }) => {
        // The file may have been removed in the meantime.
        const found = await stat(join(parentPath, name)).catch(() => undefined);
        return found?.size ?? [];
      });
      return { ...countSizes((await Promise.all(sizes)).flat()), multiparts: 0 };
    },
    end: () => endTintype(tintype),
  };
}

async function startOnS3(): Promise<ProxyPlace> {
  const storage = await makeStorage('S3');
  const { words, buckets } = storage;
  if (words.kind !== 'S3') throw new Error('no S3');
  const { endpoint, credentials } = words.server;
  const env = {
    ...LARGE,
    TINTYPE_S3_ENDPOINT: endpoint,
    TINTYPE_S3_FORCE_PATH_STYLE: 'true',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    TINTYPE_INGEST_BUCKET: words.ingest,
    TINTYPE_CONTENT_BUCKET: words.content,
  };
  const tintype = await startTintype({ env });
  const range = { prefix: '', limit: LISTED_MAX };
  return {
    kind: 'S3',
    tintype,
    look: async () => {
      const objects = await buckets.ingest.list(range);
      const multiparts = await buckets.ingest.listMultiparts(range);
      const sizes = objects.map(({ size_bytes }) => size_bytes);
      return { ...countSizes(sizes), multiparts: multiparts.length };
    },
    end: async () => {
      await endTintype(tintype);
      await storage.remove();
    },
  };
}

/** Smaller files in a folder are not objects. */
const BEGUN_BYTES_MIN = 1_000_000;

function countSizes(sizes: readonly number[]) {
  const whole = sizes.filter((bytes) => bytes >= BODY_BYTES).length;
  const begun = sizes.filter((bytes) => bytes >= BEGUN_BYTES_MIN).length;
  return { whole, short: begun - whole };
}

async function endTintype(tintype: Tintype): Promise<void> {
  await tintype.end('SIGTERM');
  await removeFolder(tintype.data);
}
