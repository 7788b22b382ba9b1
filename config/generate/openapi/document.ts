/**
 * The whole document: its description, a path for each endpoint, and the schemas that they share.
 */
import { readFileSync } from 'node:fs';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { nameOf } from '../reference/endpoint-notes.ts';
import { operationOf } from './operation.ts';
import { operations } from './operations.ts';
import { proxyPath, proxyRefusals } from './proxy-path.ts';
import { errorSchema, headers, refusalExamples, refusalsOf } from './refusals.ts';
import { recordSchemas } from './schemas.ts';
import { securitySchemes } from './security.ts';
import { shareRefusals } from './shared-refusals.ts';
import { tags } from './tags.ts';
import { unreadResponses } from './unread.ts';

export type Json = Readonly<Record<string, unknown>>;

export function openapiDocument(): Json {
  const shared = shareRefusals(paths());
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tintype',
      version: '1',
      summary: 'Upload, transform, deliver and meter images.',
      description: readFileSync(new URL('guide.md', import.meta.url), 'utf8'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The API that serves this document.' }],
    tags,
    paths: shared.paths,
    components: {
      securitySchemes,
      headers,
      responses: { ...unreadResponses, ...shared.responses },
      schemas: { ...recordSchemas(), Error: errorSchema },
      examples: refusalExamples([...endpoints.flatMap(refusalsOf), ...proxyRefusals]),
    },
  };
}

function paths(): Json {
  refuseLeftovers();
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const found = [...byPath].map(([path, methods]) => {
    const byMethod = methods.map((each) => [each.method.toLowerCase(), operationOf(each)]);
    return [path, Object.fromEntries(byMethod)];
  });
  return { ...Object.fromEntries(found), ...proxyPath };
}

/**
 * Every described operation must have an endpoint; an endpoint without a description stops
 * `operationOf`.
 */
function refuseLeftovers(): void {
  const built = new Set(endpoints.map(nameOf));
  const left = Object.keys(operations).filter((name) => !built.has(name));
  if (left.length > 0) throw new Error(`openapi/operations.ts describes ${left.join(', ')}`);
}
