// A large body may still be in transit when the second purge of a change is sent. The server then breaks it off, so
// that no cache keeps an outdated image. Spec: Caching and response headers.
import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import { blockFile } from '../../../runtime/actions/block-file.ts';
import { deleteFile } from '../../../runtime/actions/delete-file.ts';
import { LOOKUP_CACHE_SECONDS_MAX } from '../../../runtime/core/limits.ts';
import type { FileRow } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { change, publishImage, type StoredImage } from '../../support/delivered.ts';
import { type DeliveryHost, ROOT_DOMAIN, startDeliveryHost } from '../../support/delivery-host.ts';
import { makeFolderBuckets } from '../../support/folder-buckets.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const storage = makeFolderBuckets();
const { content } = storage.buckets;
const actor = { actor_kind: 'system' } as const;
/** More than the socket buffers of both sides hold. */
const LARGE: StoredImage = {
  bytes: Buffer.alloc(32_000_000, 7),
  width: 4000,
  height: 4000,
  content_type: 'image/png',
};
const ORIGINAL = '/originals/f/large';
const DERIVED = '/resize/2000x/f/large';
/** Long enough for two checks, which run once a second. */
const LOOKS_MS = 2500;
const begun: IncomingMessage[] = [];
let host: DeliveryHost;
let project: ProjectRow;
let file: FileRow;

beforeAll(async () => {
  const read = async (key: string) =>
    key.startsWith('derived/') ? LARGE.bytes : content.read(key);
  host = await startDeliveryHost({ db, wall_clock_ms: 0, content: { ...content, read } });
});
afterAll(async () => {
  await host.close();
  storage.remove();
});
beforeEach(async () => {
  project = await makeProject(db);
  file = await publishImage({ db, content }, project, { image: LARGE, file_slug: 'large' });
});

afterEach(() => {
  for (const answer of begun.splice(0)) answer.destroy();
});

/**
 * Reads the head of the response only. On a connection of its own: Linux may give one on which much
 * was read a buffer that holds a whole body.
 */
async function begin(path: string): Promise<IncomingMessage> {
  const headers = { host: `${project.project_slug}.${ROOT_DOMAIN}` };
  const address = { host: '127.0.0.1', port: host.port, agent: false } as const;
  const request = sendRequest({ ...address, path, headers });
  request.end();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  begun.push(answer);
  expect(answer.headers['cache-control']).toBe('public, max-age=300, s-maxage=31536000');
  return answer;
}

/**
 * Reads the rest once lookups are stale. Returns its length, since a failing test would print all
 * bytes.
 */
async function readLater(answer: IncomingMessage): Promise<number | 'broken off'> {
  host.clock.advance(LOOKUP_CACHE_SECONDS_MAX + 1);
  await sleep(LOOKS_MS);
  return buffer(answer).then(
    ({ length }) => length,
    () => 'broken off' as const,
  );
}

const block = () =>
  db.transaction((tx) =>
    blockFile(tx, { file_id: file.file_id, blocked_by: 'staff', reason: 'x', actor }),
  );
const remove = () => deleteFile(db, { project_id: project.project_id, file_slug: 'large', actor });
const replace = () => publishImage({ db, content }, project, { image: LARGE, file_slug: 'large' });

describe('a large response that is read slowly', () => {
  it.each([
    ['an original', ORIGINAL, 'was blocked', block],
    ['an original', ORIGINAL, 'was deleted', remove],
    ['an original', ORIGINAL, 'has another revision', replace],
    [
      'an original',
      ORIGINAL,
      'became protected',
      () => change(db, project, { delivery_access: 'protected' }),
    ],
    [
      'an original',
      ORIGINAL,
      'is of a suspended project',
      () => change(db, project, { status: 'suspended', suspended_by: 'owner' }),
    ],
    ['a derived image', DERIVED, 'was blocked', block],
    [
      'a derived image',
      DERIVED,
      'has other presets',
      () => change(db, project, { resolution_presets: { a: 'resize/9x9' } }),
    ],
  ] as const)('of %s (%s) is aborted once the image %s', async (_, path, __, happens) => {
    const answer = await begin(path);
    await happens();
    expect(await readLater(answer)).toBe('broken off');
  });

  it.each([ORIGINAL, DERIVED])('is completed while %s does not change', async (path) => {
    const answer = await begin(path);
    expect(await readLater(answer)).toBe(LARGE.bytes.length);
  });

  it('of an original is completed if only settings change that do not affect it', async () => {
    const answer = await begin(ORIGINAL);
    await change(db, project, { resolution_presets: { a: 'resize/9x9' } });
    expect(await readLater(answer)).toBe(LARGE.bytes.length);
  });

  it('leaves no timer behind, whether it was read, abandoned or requested with HEAD', async () => {
    const set = vi.spyOn(globalThis, 'setInterval');
    const cleared = vi.spyOn(globalThis, 'clearInterval');
    onTestFinished(() => void [set, cleared].map((spy) => spy.mockRestore()));
    for (const path of [ORIGINAL, DERIVED]) {
      await buffer(await begin(path));
      (await begin(path)).destroy();
      await host.get(project.project_slug, path, { method: 'HEAD' });
    }
    const timers = set.mock.results.map(({ value }) => value);
    expect(timers).toHaveLength(6);
    const left = () => timers.filter((timer) => !cleared.mock.calls.flat().includes(timer)).length;
    await expect.poll(left).toBe(0);
  });
});
