/** The rows (endpoint, status, code) that a run has produced, appended to one file by every test process. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './tintype.ts';

export type SeenRow = { endpoint: string; status: number; code: string | null };

type EndpointRow = { method: string; path: string };

const patterns = readPatterns();

export function noteSeen(seen: {
  method: string;
  path: string;
  status: number;
  code: string | null;
}): void {
  const file = process.env.TINTYPE_SEEN_FILE;
  const endpoint = endpointOf(seen.method, seen.path);
  if (file === undefined || endpoint === undefined) return;
  const row: SeenRow = { endpoint, status: seen.status, code: seen.code };
  appendFileSync(file, `${JSON.stringify(row)}\n`);
}

function endpointOf(method: string, path: string): string | undefined {
  const pathname = path.split('?', 1)[0] ?? '';
  if (pathname.startsWith('delivery:'))
    return deliveryEndpointOf(method, pathname.slice('delivery:'.length));
  const found = patterns.find((row) => row.method === method && row.pattern.test(pathname));
  return found && `${found.method} ${found.path}`;
}

function deliveryEndpointOf(method: string, path: string): string {
  if (path.startsWith('/originals/f/')) return `${method} /originals/f/<file_slug>`;
  if (path.startsWith('/download/raw/f/')) return `${method} /download/raw/f/<file_slug>`;
  return `${method} /<transform_chain>/f/<file_slug>`;
}

function readPatterns() {
  const file = join(projectRoot, 'test/spec/endpoints.json');
  const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { rows: EndpointRow[] };
  return rows.map(({ method, path }) => ({
    method,
    path,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
}
