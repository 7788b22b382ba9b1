/**
 * What answers a test run has seen, as rows (endpoint, status, code) in one file that every test process
 * appends to. The names of endpoints are those of test/spec/endpoints.json.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import additions from '../spec/additions.json' with { type: 'json' };
import specification from '../spec/endpoints.json' with { type: 'json' };

export type SeenRow = { endpoint: string; status: number; code: string | null };

type Seen = { method: string; path: string; status: number; code: string | null };

/** An answer of the API, or of the storage that takes uploads. */
export function noteSeen({ method, path, status, code }: Seen): void {
  const endpoint = uploadUrl(method, path) ?? apiEndpoint(method, pathnameOf(path));
  if (endpoint !== undefined) append({ endpoint, status, code });
}

/** An answer of a delivery host. */
export function noteDelivered({ method, path, status, code }: Seen): void {
  const endpoint = deliveryEndpoint(method, pathnameOf(path));
  if (endpoint !== undefined) append({ endpoint, status, code });
}

/** Every row once. */
export function readSeen(file: string): SeenRow[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return [...new Set(text.split('\n'))]
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SeenRow);
}

// Lines of less than a page, appended: two processes never mix theirs.
function append(row: SeenRow): void {
  const file = process.env.TINTYPE_SEEN_FILE;
  if (file !== undefined && file !== '') appendFileSync(file, `${JSON.stringify(row)}\n`);
}

function pathnameOf(path: string): string {
  return path.split('?', 1)[0] ?? '';
}

const apiRows = [...specification.rows, ...additions.endpoints]
  .filter((row) => !('surface' in row))
  .map(({ method, path }) => ({
    name: `${method} ${path}`,
    method,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    parameters: path.split('{').length,
  }))
  // A path in its own words goes before one with parameters: /files/move before /files/{fileSlug}.
  .sort((a, b) => a.parameters - b.parameters);

/** The URLs that a session returns, whose addresses the deployment chooses. */
function uploadUrl(method: string, path: string): string | undefined {
  if (method !== 'PUT') return undefined;
  if (path.startsWith('/v1/uploads/')) return 'PUT proxy.put_url';
  if (/[?&](part|partNumber)=/.test(path)) return 'PUT multipart.parts[].url';
  return path.startsWith('/_storage/') ? 'PUT direct.put_url' : undefined;
}

function apiEndpoint(method: string, pathname: string): string | undefined {
  return apiRows.find((row) => row.method === method && row.pattern.test(pathname))?.name;
}

/** HEAD has no body, hence no code: it stands for no row. */
function deliveryEndpoint(method: string, pathname: string): string | undefined {
  if (method === 'OPTIONS') return 'OPTIONS /*';
  if (method !== 'GET') return undefined;
  if (pathname.startsWith('/originals/f/')) return 'GET /originals/f/<file_slug>';
  if (pathname.startsWith('/download/raw/f/')) return 'GET /download/raw/f/<file_slug>';
  return 'GET /<transform_chain>/f/<file_slug>';
}
