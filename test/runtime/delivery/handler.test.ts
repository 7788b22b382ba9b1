import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import { type Queue, QueueBusy, QueueTimeout } from '../../../runtime/platform/queue/queue.ts';
import refusalPairs from '../../spec/refusal-pairs.json' with { type: 'json' };
import { useDatabase } from '../../support/database.ts';
import {
  change,
  makeKey,
  publishImage,
  type StoredImage,
  signed,
  type TestKey,
} from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { CALLS_WAITING_MAX } from '../../support/delivery-stack.ts';
import { over, quarters } from '../../support/pictures.ts';
import { makeOrganization, makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
/** All its renders time out immediately. */
let late: DeliveryHost;
let image: StoredImage;
let endRenders: () => void;

beforeAll(async () => {
  host = await startDeliveryHost({ db, wall_clock_ms: 0 });
  endRenders = await saturate(host);
  const queue = createInProcessQueue();
  const call: Queue['call'] = (lane) => Promise.reject(new QueueTimeout(lane, 0));
  late = await startDeliveryHost({ db, wall_clock_ms: 0, queue: { ...queue, call } });
  // GIF has no place for metadata, so raw downloads of it are unavailable.
  const bytes = await over(quarters(64, 64)).gif().toBuffer();
  image = { bytes, width: 64, height: 64, content_type: 'image/gif' };
});
afterAll(async () => {
  await late.close();
  endRenders();
  await host.close();
});

/** Occupies the only slot and fills the queue. Returns a function that ends it. */
async function saturate({ queue }: DeliveryHost): Promise<() => void> {
  const ending = Promise.withResolvers<void>();
  await queue.serve('render', { slots: 1, waiting_max: 0 }, () => ending.promise);
  const refused = new Promise((resolve) => {
    for (let count = 0; count < CALLS_WAITING_MAX + 2; count += 1) {
      queue.call('render', {}, { deadline_ms: 3_600_000 }).catch(resolve);
    }
  });
  expect(await refused).toBeInstanceOf(QueueBusy);
  return ending.resolve;
}

/** A request, and the state that it meets. Rows of a pair agree on every field that both set. */
type Scene = {
  query: 'none' | 'unexpected' | 'malformed';
  status: 'active' | 'suspended';
  quota: 'within' | 'over';
  file: 'ready' | 'missing' | 'blocked';
  signature: 'none' | 'altered' | 'expired' | 'unknown';
  access: 'public' | 'protected';
  allowed: string[];
  target: 'chain' | 'raw' | 'nonsense' | 'preset';
  raw: boolean;
  /** Only derived URLs have a chain that the project may disallow. */
  is_derived: boolean;
  render: 'busy' | 'late';
};

const plain: Scene = {
  query: 'none',
  status: 'active',
  quota: 'within',
  file: 'ready',
  signature: 'none',
  access: 'public',
  allowed: [],
  target: 'chain',
  raw: true,
  is_derived: true,
  render: 'busy',
};

type Row = { row: number; code: string; status: number; needs: Partial<Scene> };

/** The rows of the table, in checking order. Unset fields are as in `plain`. */
const rows: Row[] = [
  { row: 1, code: 'not_found', status: 404, needs: { query: 'unexpected', signature: 'none' } },
  { row: 1, code: 'not_found', status: 404, needs: { query: 'malformed' } },
  { row: 2, code: 'project_suspended', status: 403, needs: { status: 'suspended' } },
  { row: 3, code: 'quota_exceeded', status: 403, needs: { quota: 'over' } },
  { row: 4, code: 'not_found', status: 404, needs: { file: 'missing' } },
  { row: 5, code: 'file_blocked', status: 403, needs: { file: 'blocked' } },
  { row: 6, code: 'invalid_signature', status: 403, needs: { signature: 'altered' } },
  { row: 6, code: 'signature_expired', status: 403, needs: { signature: 'expired' } },
  { row: 6, code: 'unknown_kid', status: 403, needs: { signature: 'unknown' } },
  {
    row: 7,
    code: 'signature_required',
    status: 403,
    needs: { access: 'protected', signature: 'none' },
  },
  {
    row: 8,
    code: 'transform_chain_not_allowed',
    status: 403,
    needs: { allowed: ['resize/9x9'], signature: 'none', is_derived: true },
  },
  { row: 9, code: 'not_found', status: 404, needs: { target: 'nonsense' } },
  { row: 9, code: 'not_found', status: 404, needs: { target: 'preset' } },
  {
    row: 9,
    code: 'not_found',
    status: 404,
    needs: { target: 'raw', raw: false, is_derived: false },
  },
  {
    row: 10,
    code: 'raw_unavailable',
    status: 415,
    needs: { target: 'raw', is_derived: false },
  },
  { row: 11, code: 'busy', status: 503, needs: { target: 'chain', render: 'busy' } },
  { row: 12, code: 'render_timeout', status: 504, needs: { target: 'chain', render: 'late' } },
];

const targets = {
  chain: '/resize/20x20',
  raw: '/download/raw',
  nonsense: '/resize/none',
  preset: '/preset:absent',
} as const;

async function answerIn(scene: Scene, method = 'GET') {
  const { organization_id } = await makeOrganization(db);
  if (scene.quota === 'over') {
    await db.query(
      'update organizations set quota_exceeded_at = now() where organization_id = $1',
      [organization_id],
    );
  }
  const project = await makeProject(db, { organization_id });
  const key = await makeKey(db, project);
  if (scene.file !== 'missing') await makeSceneFile(project, scene.file);
  await change(db, project, {
    status: scene.status,
    suspended_by: scene.status === 'suspended' ? 'owner' : null,
    delivery_access: scene.access,
    allowed_transform_chains: scene.allowed,
    raw_download_enabled: scene.raw,
  });
  const path = `${targets[scene.target]}/f/cat${scene.query === 'malformed' ? '/' : ''}`;
  const at = scene.render === 'late' ? late : host;
  return at.get(project.project_slug, withQuery(path, scene, { project, key }), { method });
}

async function makeSceneFile(project: ProjectRow, status: 'ready' | 'blocked'): Promise<void> {
  const { file_id } = await publishImage({ db, content: host.content }, project, {
    image,
    file_slug: 'cat',
  });
  if (status === 'ready') return;
  await db.query(
    `update files set status = 'blocked', blocked_by = 'staff', blocked_at = now(), block_count = 1
     where file_id = $1`,
    [file_id],
  );
}

function withQuery(
  path: string,
  { query, signature }: Scene,
  { project, key }: { project: ProjectRow; key: TestKey },
): string {
  const now = Math.floor(host.clock.now().getTime() / 1000);
  if (query === 'unexpected') return `${path}?width=3`;
  switch (signature) {
    case 'none':
      return path;
    case 'altered':
      return `${signed(path, { project, key, exp: now + 60 }).slice(0, -2)}xx`;
    case 'expired':
      return signed(path, { project, key, exp: now - 1 });
    case 'unknown':
      return signed(path, { project, key: { ...key, kid: 'kid_absent' }, exp: now + 60 });
  }
}

function isCompatible(one: Partial<Scene>, other: Partial<Scene>): boolean {
  return (Object.keys(one) as (keyof Scene)[]).every(
    (field) => other[field] === undefined || other[field] === one[field],
  );
}

const pairs = rows.flatMap((first, at) =>
  rows
    .slice(at + 1)
    .filter((second) => second.row > first.row && isCompatible(first.needs, second.needs))
    .map((second) => ({ first, second })),
);

describe('delivery refusals', () => {
  it.each(rows)('row $row answers $status $code', async ({ code, status, needs }) => {
    const answer = await answerIn({ ...plain, ...needs });
    expect({ status: answer.status, code: answer.code }).toEqual({ status, code });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['x-request-id']).toMatch(/^[\w.-]{8,}$/);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  it.each(rows)('row $row ($code) answers HEAD like GET, without a body', async ({ needs }) => {
    const scene = { ...plain, ...needs };
    const [got, head] = [await answerIn(scene), await answerIn(scene, 'HEAD')];
    expect([head.status, head.body.length]).toEqual([got.status, 0]);
    const names = ['content-type', 'content-length', 'cache-control', 'retry-after', 'etag'];
    const pickHeaders = ({ headers }: typeof got) => names.map((name) => headers[name]);
    expect(pickHeaders(head)).toEqual(pickHeaders(got));
  });

  it('cover every pair of rows except those that no single request can trigger', () => {
    const held = new Set(pairs.map(({ first, second }) => `${first.row} ${second.row}`));
    const impossible = refusalPairs.impossible.map(({ rows: [one, other] }) => `${one} ${other}`);
    const all = Array.from({ length: 12 }, (_, at) => at + 1).flatMap((one) =>
      Array.from({ length: 12 - one }, (_, at) => `${one} ${one + 1 + at}`),
    );
    expect([...held, ...impossible].toSorted()).toEqual(all.toSorted());
  });

  it.each(pairs)(
    'row $first.row ($first.code) takes precedence over row $second.row ($second.code)',
    async ({ first, second }) => {
      const answer = await answerIn({ ...plain, ...second.needs, ...first.needs });
      expect({ status: answer.status, code: answer.code }).toEqual({
        status: first.status,
        code: first.code,
      });
    },
  );

  it('are never metered', async () => {
    await host.meter.flush();
    expect(await db.query('select * from usage_batches')).toEqual([]);
  });

  it('carry Retry-After when rendering is saturated', async () => {
    const { headers } = await answerIn(plain);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  it.each(['image/avif', 'image/gif', 'image/svg+xml'] as const)(
    'answer a raw download of %s with 415 raw_unavailable even if raw downloads are enabled',
    async (content_type) => {
      const project = await makeProject(db, { raw_download_enabled: true });
      await publishImage({ db, content: host.content }, project, {
        image: { ...image, content_type },
        file_slug: 'cat',
      });
      const answer = await host.get(project.project_slug, '/download/raw/f/cat');
      expect([answer.status, answer.code]).toEqual([415, 'raw_unavailable']);
      expect(answer.headers['cache-control']).toBe('no-store');
    },
  );
});
