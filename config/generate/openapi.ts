/**
 * Writes runtime/api/openapi.json, the OpenAPI 3.1 document that the API serves, from the endpoints, their zod schemas
 * and the notes of the reference. With --check it writes nothing and fails when the file is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openapiDocument } from './openapi/document.ts';

const file = fileURLToPath(new URL('../../runtime/api/openapi.json', import.meta.url));
const text = `${JSON.stringify(openapiDocument(), null, 2)}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readPresent() !== text) {
  console.error('runtime/api/openapi.json is stale: run make generate');
  process.exitCode = 1;
}

function readPresent(): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
