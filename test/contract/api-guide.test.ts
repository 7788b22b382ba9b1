/**
 * Runs the commands of the guide at /docs as served, from a token to a signed URL, and the guide's browser code that
 * sends one part of a large file.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { relativeLinksOf } from '../docs/documents.ts';
import { over, photograph } from '../support/pictures.ts';
import { readFences } from './support/blocks.ts';
import { withKey } from './support/client.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { launcher } from './support/tintype.ts';
import { waitUntilEnded } from './support/upload.ts';

let tintype: UsedTintype;
let folder: string;

beforeAll(async () => {
  tintype = await takeTintype();
  folder = await mkdtemp(join(tmpdir(), 'tintype-guide-'));
  await symlink(tintype.data, join(folder, '.tintype'));
  await writeFile(join(folder, 'logo.png'), await over(photograph(64, 48)).png().toBuffer());
}, 300_000);

afterAll(async () => {
  await tintype?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const FIELD = 'field() { sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p" "$2"; }';
const UNTIL_READY = [
  'until curl -s "$TINTYPE_API/v1/projects/shop/uploads/$(field upload_id upload.json)"',
  '-H "X-Api-Key: $TINTYPE_KEY" | grep -q \'"status":"ready"\'; do sleep 0.1; done',
].join(' ');

/** Replaces the placeholders that a reader fills in from earlier responses. */
function filledIn(commands: string): string {
  const changes: [string, string][] = [
    ['npx tintype env', `'${process.execPath}' '${launcher}' env`],
    ['npx tintype token', `'${process.execPath}' '${launcher}' token`],
    [`'{"name":"server"}'`, `'{"name":"server"}' > key.json`],
    ['TINTYPE_KEY=tin_live_…', 'TINTYPE_KEY=$(field plaintext_secret key.json)'],
    ['\\"logo.png\\"}"', '\\"logo.png\\"}" > upload.json'],
    ['<direct.put_url>', '$(field put_url upload.json)'],
    ['<upload_id>', '$(field upload_id upload.json)'],
    [
      'curl -s "$TINTYPE_API/v1/projects/shop/files',
      `${UNTIL_READY}\ncurl -s "$TINTYPE_API/v1/projects/shop/files`,
    ],
    [
      'curl -s "$TINTYPE_API/v1/projects/shop/signed-url"',
      'echo; curl -s "$TINTYPE_API/v1/projects/shop/signed-url"',
    ],
  ];
  return changes.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, () => to);
  }, commands);
}

const [shell, script] = readFences('config/generate/openapi/guide.md');

it('the OpenAPI document contains the guide’s examples verbatim', async () => {
  const answer = await fetch(`${tintype.instance.api_url}/openapi.json`);
  const { info } = (await answer.json()) as { info: { description: string } };
  for (const { language, text } of [shell, script].filter((each) => each !== undefined)) {
    expect(info.description).toContain(`\`\`\`${language}\n${text}`);
  }
});

it('every link in the descriptions of the OpenAPI document is served', async () => {
  const { api_url } = tintype.instance;
  const answer = await fetch(`${api_url}/openapi.json`);
  const page = `${api_url}/docs`;
  const targets = new Set(descriptionsIn(await answer.json()).flatMap(relativeLinksOf));
  expect(targets.size).toBeGreaterThan(50);
  const broken: string[] = [];
  for (const target of targets) {
    const { status } = await fetch(new URL(target, page));
    if (status !== 200) broken.push(`${target}: ${status}`);
  }
  expect(broken).toEqual([]);
});

function descriptionsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) =>
    name === 'description' && typeof value === 'string' ? [value] : descriptionsIn(value),
  );
}

it('the guide’s commands create a project, a key, a file and a signed URL', {
  timeout: 120_000,
}, async () => {
  const typed = ['set -euo pipefail', FIELD, filledIn(shell?.text ?? '')].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-c', typed], { cwd: folder });
  const [file = '', signed = ''] = stdout.trim().split('\n').slice(-2);
  expect(file).toContain('/originals/f/logo.png');
  expect(JSON.parse(signed).url).toMatch(/\/resize\/320x\/f\/logo\.png\?.*sig=/);
});

// In a page, the code runs within an async function.
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;

it('the guide’s script sends the parts of a large file', { timeout: 120_000 }, async () => {
  const { api_key, project_slug } = tintype.instance;
  const key = withKey(tintype, api_key);
  const bytes = await over(photograph(2400, 1600)).tiff({ compression: 'none' }).toBuffer();
  const parts = Math.ceil(bytes.length / 2 ** 23);
  const uploads = `/v1/projects/${project_slug}/uploads`;
  const input = { content_type: 'image/tiff', size_bytes: bytes.length, parts };
  const { upload_id, multipart } = (await key('POST', uploads, input)).body;
  const sent: { part_number: number; etag: string }[] = [];
  const send = AsyncFunction('part', 'n', 'part_size', 'file', 'sent', script?.text);
  for (const part of multipart.parts) {
    await send(part, part.part_number, multipart.part_size, new Blob([bytes]), sent);
  }
  expect(sent.length).toBeGreaterThan(1);
  const completed = await key('POST', `${uploads}/${upload_id}/complete`, { parts: sent });
  expect(completed.status).toBe(200);
  expect(await waitUntilEnded(key, project_slug, upload_id)).toMatchObject({ status: 'ready' });
});
