// The messages of `tintype upload` for failures: API errors, rate limits, responses of another program, a storage that
// rejects the bytes, and uploads that the workers gave up.
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { processingErrors } from '../../../runtime/core/errors.ts';
import { makeFolder, removeFolder, runTintype } from '../../contract/support/tintype.ts';
import { writeInstance } from '../../support/instance-file.ts';
import { over, photograph } from '../../support/pictures.ts';

const UPLOADS = '/v1/projects/demo/uploads';
const ended = (error_code: keyof typeof processingErrors) => ({ status: 'failed', error_code });
const ready = { status: 'ready', error_code: null };

type Outcome = { at?: string; answer?: Answer; end?: object; file?: object; says: RegExp };
/** The scripted outcome of each file, by its slug; `at` names the call that gets `answer`. */
const outcomes: Record<string, Outcome> = {
  'abandoned.jpg': {
    end: ended('processing_abandoned'),
    says: /^✗ processing_abandoned: .*report the upload id\. \(upload upl_abandoned\.jpg\)$/,
  },
  'slow.jpg': {
    end: ended('processing_timeout'),
    says: /^✗ processing_timeout: .* \(upload upl_slow\.jpg\)$/,
  },
  'cut.jpg': {
    end: ended('decode_failed'),
    says: /^✗ decode_failed: The JPEG is corrupt or truncated\. Export it again and upload the result\.$/,
  },
  'failing.jpg': {
    at: 'create',
    answer: [500, 'internal'],
    says: /^✗ internal: Went wrong\. \(x-request-id req-12345678\)$/,
  },
  'failing-late.jpg': {
    at: 'complete',
    answer: [500, 'internal'],
    says: /^✗ internal: Went wrong\. \(x-request-id req-12345678\) \(upload upl_failing-late\.jpg\)$/,
  },
  'foreign.jpg': {
    at: 'create',
    answer: [502, '<html>'],
    says: /^✗ invalid_response: The address answered 502, .*Check what listens there\./,
  },
  'refused.jpg': {
    at: 'put',
    answer: [403, '<html>'],
    says: /^✗ storage_unavailable: storage refused the bytes \(403\): .* \(upload upl_refused\.jpg\)$/,
  },
  'picky.jpg': {
    at: 'create',
    answer: [
      400,
      'invalid_request',
      {
        issues: [
          { path: 'file_slug', message: 'expected a slug' },
          { path: '', message: 'expected more' },
        ],
      },
    ],
    says: /^✗ invalid_request: Look at what is said here\. \(file_slug: expected a slug; expected more\)$/,
  },
  'full.jpg': {
    at: 'create',
    answer: [413, 'too_large', { issues: 7 }],
    says: /^✗ too_large: Look at what is said in 7\.$/,
  },
  'blocked.jpg': {
    file: { status: 'blocked' },
    says: /^✗ file_blocked: the name blocked\.jpg is blocked by moderation: .*a note on the file \(upload upl_blocked\.jpg\)$/,
  },
  'running.jpg': {
    at: 'create',
    answer: [409, 'idempotency_in_progress'],
    says: /^✗ idempotency_in_progress: Tintype has not finished an earlier try .*upload it again if it is not\.$/,
  },
  'unseen.jpg': { at: 'file', answer: [500, 'internal'], says: /^✓ ready$/ },
  'patient.jpg': { at: 'create', answer: [429, 'rate_limited'], says: /^✓ ready$/ },
};
type Answer = [status: number, code: string, details?: object];

/** The response for the project that files are uploaded to. */
let project = {
  delivery_access: 'public',
  resolution_presets: { hero: 'resize/1600x' },
  allowed_transform_chains: [] as string[],
};
let server: Server;
let instance: object;
let folder: string;
let said: { code: number | null; stderr: string };
const asked = new Map<string, number>();

beforeAll(async () => {
  folder = await makeFolder();
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  instance = await writeInstance(folder, { api_url: address(), project_slug: 'demo' });
  const bytes = await over(photograph(40, 30)).jpeg().toBuffer();
  for (const name of Object.keys(outcomes)) await writeFile(join(folder, name), bytes);
  said = await runTintype(['upload', ...Object.keys(outcomes), '--data', folder], { cwd: folder });
});
afterAll(async () => {
  server.close();
  await removeFolder(folder);
});

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request;
  const reply = (status: number, body: object) => {
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-request-id': 'req-12345678',
    });
    response.end(JSON.stringify(body));
  };
  const { slug, at } = await callOf(request);
  const outcome = outcomes[slug];
  const times = asked.get(`${slug} ${at}`) ?? 0;
  asked.set(`${slug} ${at}`, times + 1);
  if (
    outcome?.at === at &&
    outcome.answer !== undefined &&
    (outcome.answer[0] !== 429 || times === 0)
  ) {
    const [status, code, details] = outcome.answer;
    if (status === 429) response.setHeader('retry-after', '0');
    if (code.startsWith('<')) return void response.writeHead(status).end(code);
    const message = details ? 'Look at what is said in details.issues.' : 'Went wrong.';
    return reply(status, { error: { code, message, details } });
  }
  if (at === 'file') return reply(200, outcome?.file ?? ready);
  if (method === 'PUT') return void response.writeHead(200, { etag: '"x"' }).end();
  if (url === '/v1/projects/demo') {
    const isKnown = request.headers['x-api-key'] === 'x';
    const refusal = { error: { code: 'unauthorized', message: 'Not valid.' } };
    return isKnown ? reply(200, project) : reply(401, refusal);
  }
  const direct = { put_url: `${address()}/put/${slug}`, headers: { 'content-type': 'image/jpeg' } };
  reply(200, { upload_id: `upl_${slug}`, file_slug: slug, direct, ...(outcome?.end ?? ready) });
}

async function callOf(request: IncomingMessage): Promise<{ slug: string; at: string }> {
  const { method = '', url = '' } = request;
  if (method === 'POST' && url === UPLOADS) {
    const { file_slug } = (await json(request)) as { file_slug: string };
    return { slug: file_slug, at: 'create' };
  }
  for await (const _ of request);
  const slug = /(?:upl_|\/put\/|\/files\/)([^/]+)/.exec(url)?.[1] ?? '';
  if (url.includes('/files/')) return { slug, at: 'file' };
  const what = url.endsWith('/complete') ? 'complete' : 'get';
  return { slug, at: method === 'PUT' ? 'put' : what };
}

it.each(Object.keys(outcomes))('tintype upload explains what happened to %s', (name) => {
  const line = said.stderr.split('\n').find((each) => each.startsWith(`${name} `)) ?? '';
  expect(line.slice(33)).toMatch(outcomes[name]?.says ?? /$^/);
});

it('tintype upload exits with 1 and counts the files that were not published', () => {
  expect(said.code).toBe(1);
  expect(said.stderr).toMatch(/tintype: 11 of 13 files were not published \(.*2 internal/);
});

it('tintype upload explains why the API key may be rejected, and sends no file', async () => {
  const data = join(folder, 'suspended');
  await mkdir(data);
  await writeInstance(data, { ...instance, api_key: 'of a suspended project' });
  const { code, stderr } = await runTintype(['upload', 'cut.jpg', '--data', data], { cwd: folder });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^tintype: the key of the project demo is not accepted: .*suspended.*revoked/,
  );
  expect(stderr).not.toContain('cut.jpg');
});

it.each([
  ['public', [], ['originals', 'resize/640x480', 'preset:hero'], ''],
  ['public', ['preset:hero', 'resize/80x'], ['originals', 'preset:hero', 'resize/80x'], ''],
  [
    'protected',
    ['resize/80x'],
    ['originals', 'resize/640x480', 'preset:hero'],
    'The project is protected: these URLs work only with a signature, which POST /v1/projects/demo/signed-url returns.\n',
  ],
])(
  'tintype upload prints the URLs that work in a %s project with the allowed chains %j',
  async (...terms) => {
    const [delivery_access, allowed_transform_chains, paths, note] = terms;
    project = { ...project, delivery_access, allowed_transform_chains };
    const { stdout, stderr } = await runTintype(['upload', 'patient.jpg', '--data', folder], {
      cwd: folder,
    });
    const printed = stdout.trimEnd().split('\n');
    expect(printed.map((line) => new URL(line.trim()).pathname)).toEqual(
      paths.map((path) => `/${path}/f/patient.jpg`),
    );
    expect(stderr.split('\n').slice(1).join('\n')).toBe(note);
  },
);
