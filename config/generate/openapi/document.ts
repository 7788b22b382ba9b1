/** The whole document: what it says of itself, a path for each endpoint, and the schemas that they share. */
import { readFileSync } from 'node:fs';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { operationOf } from './operation.ts';
import { proxyPath, proxyRefusals } from './proxy-path.ts';
import { errorSchema, headers, refusalExamples, refusalsOf } from './refusals.ts';
import { recordSchemas } from './schemas.ts';
import { securitySchemes } from './security.ts';
import { tags } from './tags.ts';

export type Json = Readonly<Record<string, unknown>>;

export function openapiDocument(): Json {
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
    paths: paths(),
    components: {
      securitySchemes,
      headers,
      schemas: { ...recordSchemas(), Error: errorSchema },
      examples: refusalExamples([...endpoints.flatMap(refusalsOf), ...proxyRefusals]),
    },
  };
}

function paths(): Json {
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const found = [...byPath].map(([path, methods]) => {
    const operations = methods.map((each) => [each.method.toLowerCase(), operationOf(each)]);
    return [path, Object.fromEntries(operations)];
  });
  return { ...Object.fromEntries(found), ...proxyPath };
}
