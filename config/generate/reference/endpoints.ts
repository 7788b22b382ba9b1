/** The endpoints of runtime/api/endpoints.ts, grouped under headings by path. */
import type { Credential } from '../../../runtime/api/auth/principal.ts';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { apiErrors } from '../../../runtime/core/errors.ts';
import { apiKeyScopes } from '../../../runtime/core/scopes.ts';
import { endpointNotes, nameOf } from './endpoint-notes.ts';
import { fieldsOf } from './json-type.ts';
import { code, codes, table } from './markdown.ts';

/** Headings in order; an endpoint belongs to the first whose pattern matches its path. */
const HEADINGS = {
  Infrastructure: /^\/(?:healthz|readyz|v1\/internal\/.*|v1\/billing\/provider[ab]\/webhook)$/,
  'Identity and organizations': /^\/v1\/(?:me|organizations)$/,
  Staff: /^\/v1\/staff\//,
  Public: /^\/v1\/public\//,
  Billing: /^\/v1\/billing\//,
  'Library sessions and the picker': /library-sessions|^\/v1\/library\/|^\/embed\//,
  'API keys': /^\/v1\/projects\/\{slug\}\/keys/,
  'Signing keys and signed URLs': /\/(?:signing-keys|signed-url)/,
  'Watermark presets': /\/watermark-presets/,
  Recipes: /\/recipes/,
  Uploads: /\/uploads/,
  Files: /\/files/,
  Libraries: /\/libraries/,
  Usage: /\/usage$/,
  Webhooks: /\/webhook-/,
  Projects: /^\/v1\/(?:projects(?:\/\{slug\})?|key)$/,
} as const;

export const endpointLists: ReadonlyMap<string, () => string> = new Map(
  Object.keys(HEADINGS).map((heading) => [heading, () => printHeading(heading)]),
);

/** What each scope allows. */
export function scopeTable(): string {
  const rows = apiKeyScopes.map((scope) => {
    const opened = endpoints.filter(({ auth }) => auth.includes(`key:${scope}`)).map(nameOf);
    return [code(scope), codes(opened)];
  });
  return table(['scope', 'allows'], rows);
}

function printHeading(heading: string): string {
  const found = endpoints.filter(({ path }) => headingOf(path) === heading);
  return found.map(printEndpoint).join('\n');
}

function headingOf(path: string): string {
  const found = Object.entries(HEADINGS).find(([, paths]) => paths.test(path));
  if (found === undefined) throw new Error(`no heading of the reference takes ${path}`);
  return found[0];
}

function printEndpoint(endpoint: Endpoint): string {
  const note = endpointNotes[nameOf(endpoint)];
  if (note === undefined)
    throw new Error(`config/generate/reference/endpoint-notes.ts has no ${nameOf(endpoint)}`);
  const callers = endpoint.auth.map((credential) => printCredential(endpoint, credential));
  const refusals = endpoint.errors.toSorted(
    (one, other) => apiErrors[one].status - apiErrors[other].status,
  );
  const own = refusals.map((name) => `${apiErrors[name].status} ${code(name)}`);
  const facts = [
    `Callers: ${callers.join(', or ')}.`,
    `Success: ${endpoint.ok}.`,
    ...(own.length === 0 ? [] : [`Specific refusals: ${own.join(', ')}.`]),
  ];
  return `### ${code(nameOf(endpoint))}\n\n${note}\n\n${facts.join(' ')}\n${printFields(endpoint)}`;
}

function printFields({ body, query }: Endpoint): string {
  const rows = [
    ...(query === null
      ? []
      : fieldsOf(query, 'input').map((field) => ({ where: 'query', ...field }))),
    ...(body === null ? [] : fieldsOf(body, 'input').map((field) => ({ where: 'body', ...field }))),
  ];
  if (rows.length === 0) return '';
  const cells = rows.map(({ name, where, type, isRequired }) => [
    code(name),
    where,
    isRequired ? 'required' : 'optional',
    type,
  ]);
  return `\n${table(['field', 'in', '', 'type'], cells)}`;
}

function printCredential({ method }: Endpoint, credential: Credential): string {
  if (credential === 'none') return 'anyone';
  if (credential === 'embed_url_signature') return 'anyone with the signed URL';
  if (credential === 'token') return 'library session';
  if (credential.startsWith('token:'))
    return `library session with ${code(credential.slice('token:'.length))}`;
  if (credential === 'key') return 'any API key';
  if (credential.startsWith('key:')) return `API key with ${code(credential.slice('key:'.length))}`;
  if (credential.endsWith('_signature')) return 'a sender that signs the body';
  const who = credential === 'staff' ? 'staff session' : 'dashboard session';
  return method === 'GET' ? who : `${who} that signs the request`;
}
