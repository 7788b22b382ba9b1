/**
 * Writes runtime/api/openapi.json, the OpenAPI 3.1 document that the API serves, from the endpoints, their zod schemas
 * and the notes of the reference.
 */
import { writeGenerated } from '../write-generated.ts';
import { openapiDocument } from './openapi/document.ts';

const text = `${JSON.stringify(openapiDocument(), null, 2)}\n`;
writeGenerated(new Map([['runtime/api/openapi.json', text]]));
