/**
 * A customer's website on a loopback port: pages that the test writes, the SDK modules as a browser loads them, and the
 * endpoints of the site's own server.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { projectRoot } from '../house/source-files.ts';
import { closeHttp } from './close-http.ts';

/**
 * Not `/`, because Vitest takes the paths in a browser's errors for file names and reads these
 * files.
 */
export const PAGE_PATH = '/page.html';

export type Answering = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export type Site = {
  origin: string;
  /** The responses of the site's server, by path; a string is an HTML page. */
  answers: Map<string, string | Answering>;
  close(): Promise<void>;
};

const TYPES: Readonly<Record<string, string>> = {
  '.ts': 'text/javascript',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
};

export async function startSite(host = '127.0.0.1'): Promise<Site> {
  const answers: Site['answers'] = new Map();
  const server = createServer((request, response) => {
    answer(answers, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${host}:${port}`,
    answers,
    close: () => closeHttp(server),
  };
}

async function answer(
  answers: Site['answers'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://site').pathname;
  const own = answers.get(path);
  if (typeof own === 'function') return own(request, response);
  if (own !== undefined) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(own);
    return;
  }
  const type = TYPES[extname(path)];
  if (type === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': type }).end(await readModule(path));
}

const modules = new Map<string, string>();

async function readModule(path: string): Promise<string> {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const text = await readFile(join(projectRoot, path), 'utf8');
  const code = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  modules.set(path, code);
  return code;
}

/** Returns a page that runs this module. */
export function pageOf(module: string, body = ''): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title><body>${body}
<script type="module">${module}</script></body></html>`;
}
