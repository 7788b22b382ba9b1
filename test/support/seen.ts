/**
 * Records the responses that a test run sees, as rows of endpoint, status and code in a file to which all test
 * processes append. Endpoints have the names of test/spec/endpoints.json.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import additions from '../spec/additions.json' with { type: 'json' };
import specification from '../spec/endpoints.json' with { type: 'json' };

export type SeenRow = { endpoint: string; status: number; code: string | null };

type Seen = { method: string; path: string; status: number; code: string | null };

/** Records a response of the API, or of the storage that receives uploads. */
export function noteSeen({ method, path, status, code }: Seen): void {
  const endpoint = uploadUrl(method, path) ?? apiEndpoint(method, pathnameOf(path));
  if (endpoint !== undefined) append({ endpoint, status, code });
}

/** Records a response of a delivery host. */
export function noteDelivered({ method, path, status, code }: Seen): void {
  const endpoint = deliveryEndpoint(method, pathnameOf(path));
  if (endpoint !== undefined) append({ endpoint, status, code });
}

/** Returns the distinct rows. */
export function readSeen(file: string): SeenRow[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return [...new Set(text.split('\n'))]
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SeenRow);
}

/** The lines that this process has written, by file; a run sees most rows thousands of times. */
const written = new Map<string, Set<string>>();

// Lines are shorter than a page, so concurrent appends of several processes do not mix.
function append(row: SeenRow): void {
  const file = process.env.TINTYPE_SEEN_FILE;
  if (file === undefined || file === '') return;
  const line = `${JSON.stringify(row)}\n`;
  const lines = written.get(file) ?? new Set();
  if (lines.has(line)) return;
  appendFileSync(file, line);
  written.set(file, lines.add(line));
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
  // Literal paths match before paths with parameters, such as /files/move before /files/{fileSlug}.
  .sort((a, b) => a.parameters - b.parameters);

/**
 * The names of the upload URLs that a session returns; their addresses depend on the deployment.
 */
function uploadUrl(method: string, path: string): string | undefined {
  if (method !== 'PUT') return undefined;
  if (path.startsWith('/v1/uploads/')) return 'PUT proxy.put_url';
  if (/[?&](part|partNumber)=/.test(path)) return 'PUT multipart.parts[].url';
  return path.startsWith('/_storage/') ? 'PUT direct.put_url' : undefined;
}

function apiEndpoint(method: string, pathname: string): string | undefined {
  return apiRows.find((row) => row.method === method && row.pattern.test(pathname))?.name;
}

/** HEAD responses are not recorded, because without a body they have no code. */
function deliveryEndpoint(method: string, pathname: string): string | undefined {
  if (method === 'OPTIONS') return 'OPTIONS /*';
  if (method !== 'GET') return undefined;
  if (pathname.startsWith('/originals/f/')) return 'GET /originals/f/<file_slug>';
  if (pathname.startsWith('/download/raw/f/')) return 'GET /download/raw/f/<file_slug>';
  return 'GET /<transform_chain>/f/<file_slug>';
}
