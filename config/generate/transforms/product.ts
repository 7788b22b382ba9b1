/**
 * The product as a user starts it, in a temporary folder, and the few calls that the page needs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { PresetWish } from './read-page.ts';

type Instance = {
  api_url: string;
  delivery_root_domain: string;
  delivery_port: number;
  project_slug: string;
  api_key: string;
};

export type Product = {
  upload(file_slug: string, bytes: Buffer, content_type: string): Promise<void>;
  /** Returns the new preset's id. */
  putPreset(preset: PresetWish): Promise<string>;
  /** Resolves once the project has one; throws if a mistake in its declaration keeps it from that. */
  hasDefaultWatermark(): Promise<void>;
  deliver(path: string): Promise<Buffer>;
  end(): Promise<void>;
};

const LAUNCHER = fileURLToPath(new URL('../../../runtime/launcher.js', import.meta.url));

/** Fills the data folder, which exists, before the start. */
export type Prepare = (data: string) => Promise<void>;

/** `declared`: the YAML of the folder of resources; undefined: the samples. */
export async function startProduct(
  declared: string | undefined,
  prepare: Prepare,
): Promise<Product> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await startOnFreePorts(declared, prepare);
    } catch (error) {
      if (starts === STARTS_MAX) throw error;
    }
  }
}

/**
 * Another program may take a port between the search for a free one and the start; the start is
 * then repeated with others.
 */
const STARTS_MAX = 3;

async function startOnFreePorts(declared: string | undefined, prepare: Prepare): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-transforms-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  await prepare(data);
  const ports = ['--api-port', '0', '--delivery-port', '0'];
  const words = ['up', '--json', '--data', data, ...ports];
  if (declared !== undefined) words.push('--config', writeConfig(folder, declared));
  const child = spawn(process.execPath, [LAUNCHER, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  if (typeof line !== 'string') {
    rmSync(folder, { recursive: true });
    throw new Error(`tintype up ended with ${line}`);
  }
  const instance = JSON.parse(line) as Instance;
  const end = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  };
  const project = `/v1/projects/${instance.project_slug}`;
  return {
    upload: (slug, bytes, type) => upload(instance, { project, slug, bytes, type }),
    putPreset: async (preset) =>
      (await callApi<{ id: string }>(instance, 'PUT', `${project}/watermark-presets`, preset)).id,
    hasDefaultWatermark: () => untilDefaultWatermark(instance, project),
    deliver: (path) => deliver(instance, path),
    end,
  };
}

const WATERMARK_MS_MAX = 60_000;

async function untilDefaultWatermark(instance: Instance, project: string): Promise<void> {
  const until = Date.now() + WATERMARK_MS_MAX;
  while (Date.now() < until) {
    const found = await callApi<{ default_watermark_preset_id: string | null }>(
      instance,
      'GET',
      project,
    );
    if (found.default_watermark_preset_id !== null) return;
    await sleep(50);
  }
  throw new Error('the project has no default watermark: Tintype has logged why');
}

function writeConfig(folder: string, declared: string): string {
  const config = join(folder, 'config');
  mkdirSync(config);
  writeFileSync(join(config, 'page.yaml'), declared);
  return config;
}

type Session = {
  upload_id: string;
  status: string;
  direct: { put_url: string; headers: Record<string, string> };
};

async function upload(
  instance: Instance,
  of: { project: string; slug: string; bytes: Buffer; type: string },
): Promise<void> {
  const uploads = `${of.project}/uploads`;
  const wish = { content_type: of.type, size_bytes: of.bytes.length, file_slug: of.slug };
  const { upload_id, direct } = await callApi<Session>(instance, 'POST', uploads, wish);
  const { put_url, headers } = direct;
  const sent = await fetch(put_url, { method: 'PUT', headers, body: new Uint8Array(of.bytes) });
  if (!sent.ok) throw new Error(`${of.slug} was not stored: ${sent.status}`);
  await callApi(instance, 'POST', `${uploads}/${upload_id}/complete`);
  for (;;) {
    const { status } = await callApi<Session>(instance, 'GET', `${uploads}/${upload_id}`);
    if (status === 'ready') return;
    if (status === 'failed' || status === 'expired') throw new Error(`${of.slug} ${status}`);
    await sleep(50);
  }
}

async function callApi<Answer>(
  { api_url, api_key }: Instance,
  ...[method, path, body]: [string, string, unknown?]
): Promise<Answer> {
  const answer = await fetch(`${api_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status} ${text}`);
  return JSON.parse(text) as Answer;
}

// fetch does not let a caller set the Host header.
async function deliver(of: Instance, path: string): Promise<Buffer> {
  const host = `${of.project_slug}.${of.delivery_root_domain}`;
  const asking = request({ host: '127.0.0.1', port: of.delivery_port, path, headers: { host } });
  asking.end();
  const [answer] = await once(asking, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode} ${body}`);
  return body;
}
