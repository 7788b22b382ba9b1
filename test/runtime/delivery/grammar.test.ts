// The table of operations, row by row over HTTP: accepted chains, equivalent chains that share one image, and rejected
// ones; outputs carry no metadata. Spec: URL shapes; Transform operations; Output rules 1.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { tagsOf } from '../../contract/support/tools.ts';
import additions from '../../spec/additions.json' with { type: 'json' };
import specification from '../../spec/operations.json' with { type: 'json' };
import { tagged } from '../../support/camera.ts';
import { useDatabase } from '../../support/database.ts';
import { change, publishImage, type StoredImage } from '../../support/delivered.ts';
import { type DeliveryHost, ROOT_DOMAIN, startDeliveryHost } from '../../support/delivery-host.ts';
import { over, photograph } from '../../support/pictures.ts';
import { sayRaw, statusesIn } from '../../support/raw-requests.ts';
import { makeProject } from '../../support/rows.ts';

type Row = {
  operation: string;
  accepted: { chain: string; same_as?: string[] }[];
  refused: string[];
};
const rows: Row[] = [...specification.operations.rows, ...additions.operations];
const named = rows
  .flatMap(({ accepted }) => accepted.map(({ chain }) => /preset:([^/]+)/.exec(chain)?.[1]))
  .filter((name) => name !== undefined);
/** All presets named in the table, each with a different meaning. */
const presets = Object.fromEntries(
  [...new Set(named)].map((name, at) => [name, `resize/${at + 1}x`]),
);

const { db } = useDatabase();
let host: DeliveryHost;
let project: ProjectRow;
let image: StoredImage;

beforeAll(async () => {
  host = await startDeliveryHost({ db });
  project = await makeProject(db);
  await change(db, project, { resolution_presets: presets });
  const bytes = await tagged(
    await over(photograph(40, 30)).withIccProfile('p3').jpeg().toBuffer(),
    'jpg',
  );
  image = { bytes, width: 4000, height: 3000, content_type: 'image/jpeg' };
  await publishImage({ db, content: host.content }, project, { image, file_slug: 'large' });
  const small = { ...image, width: 40, height: 30 };
  await publishImage({ db, content: host.content }, project, { image: small, file_slug: 'tagged' });
});
afterAll(() => host.close());

/** The ETag of the image that a chain stands for, without rendering it. */
async function tagOf(chain: string, of = project): Promise<string> {
  const headers = { 'if-none-match': '*' };
  const {
    status,
    code,
    headers: reportedHeaders,
  } = await host.get(of.project_slug, `/${chain}/f/large`, { headers });
  expect([status, code]).toEqual([304, undefined]);
  return String(reportedHeaders.etag);
}

/** Sends raw bytes, since client libraries refuse to send some of these paths. */
async function statusOf(chain: string, of = project): Promise<number[]> {
  const lines = [`GET /${chain}/f/large HTTP/1.1`, `Host: ${of.project_slug}.${ROOT_DOMAIN}`];
  const text = `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`;
  return statusesIn(await sayRaw(host.port, Buffer.from(text).toString('latin1')));
}

/** A request target with a space or a non-ASCII byte is malformed HTTP. */
const refusalOf = (chain: string) => (/^[!-~]*$/.test(chain) ? 404 : 400);

describe.each(rows)('$operation', ({ accepted, refused }) => {
  it.each(accepted)(
    'serves $chain under one ETag, however it is written',
    async ({ chain, same_as }) => {
      const tag = await tagOf(chain);
      for (const other of same_as ?? []) expect(await tagOf(other), other).toBe(tag);
    },
  );

  it.each(refused)('rejects %j', async (chain) => {
    expect(await statusOf(chain)).toEqual([refusalOf(chain)]);
  });
});

describe('the transform chain grammar', () => {
  const refused = specification.grammar.refused.filter(
    // As whole chains, these two are other URL shapes.
    (chain) => !['originals', 'download/raw'].includes(chain),
  );
  it.each(refused)('rejects %j', async (chain) => {
    expect(await statusOf(chain)).toEqual([refusalOf(chain)]);
  });

  it.each(specification.grammar.preset_expansion)(
    'expands or rejects the presets in $chain',
    async (example) => {
      const own = await makeProject(db, { resolution_presets: example.presets });
      await publishImage({ db, content: host.content }, own, { image, file_slug: 'large' });
      if (example.same_as === null) expect(await statusOf(example.chain, own)).toEqual([404]);
      else expect(await tagOf(example.chain, own)).toBe(await tagOf(example.same_as, own));
    },
  );
});

describe('a rendered image', () => {
  it.each(['jpeg', 'png', 'webp', 'avif'])(
    'as %s carries no metadata of its source',
    async (format) => {
      const path = `/resize/20x15/format/${format}/f/tagged`;
      const { status, body } = await host.get(project.project_slug, path);
      expect(status).toBe(200);
      const groups = Object.keys(await tagsOf(body)).map((name) => name.split(':')[0]);
      const embedded = ['EXIF', 'XMP', 'ICC_Profile', 'IPTC', 'Photoshop', 'MakerNotes'];
      expect(groups.filter((group) => embedded.includes(group ?? ''))).toEqual([]);
    },
  );
});
