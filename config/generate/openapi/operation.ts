/** One endpoint as an Operation Object: everything that it takes, and every status that it can answer. */
import type { z } from 'zod';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { endpointNotes } from '../reference/endpoint-notes.ts';
import type { Json } from './document.ts';
import { bodyExamples } from './examples.ts';
import { jsonSchema, withoutLinks } from './json-schema.ts';
import { linksFrom } from './links.ts';
import { type Operation, operations } from './operations.ts';
import { parameterNotes, pathParameters } from './parameters.ts';
import { answerHeaders, isConditional, refusalResponses, refusalsOf } from './refusals.ts';
import { securityOf } from './security.ts';

export function operationOf(endpoint: Endpoint): Json {
  const name = nameOf(endpoint);
  const operation = operations[name];
  if (operation === undefined) throw new Error(`openapi/operations.ts has no ${name}`);
  const parameters = [
    ...pathParameters(endpoint.path),
    ...queryParameters(endpoint),
    ...headerParameters(endpoint),
  ];
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.title,
    description: withoutLinks(endpointNotes[name] ?? ''),
    security: securityOf(endpoint),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(endpoint, operation),
    responses: {
      ...successes(endpoint, operation),
      ...refusalResponses(refusalsOf(endpoint)),
      ...sameBody(operation),
    },
  };
}

export function nameOf({ method, path }: Pick<Endpoint, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

function queryParameters({ query }: Endpoint): Json[] {
  if (query === null) return [];
  const schema = jsonSchema(query, 'input');
  const required = (schema['required'] ?? []) as readonly string[];
  return Object.entries((schema['properties'] ?? {}) as Json).map(([name, property]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: parameterNotes[name] ?? '',
    schema: property,
  }));
}

/** Ours, beside Spec: Conventions. */
function headerParameters(endpoint: Endpoint): Json[] {
  return [...(isConditional(endpoint) ? [ifMatch] : []), ...idempotencyKey(endpoint)];
}

const ifMatch: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag that the write is meant for; 412 where the record has another by now.',
  schema: { type: 'string' },
};

function idempotencyKey({ method, auth }: Endpoint): Json[] {
  if (method !== 'POST' || auth.includes('none') || auth.includes('storage_event_signature'))
    return [];
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'Of your making. A repetition within a day gets the answer of the first call.',
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    },
  ];
}

function requestBody({ body }: Endpoint, { id }: Operation): Json {
  if (body === null) return {};
  const example = bodyExamples[id];
  if (example !== undefined) body.parse(example);
  return {
    requestBody: {
      required: !acceptsNothing(body),
      content: {
        'application/json': {
          schema: jsonSchema(body, 'input'),
          ...(example === undefined ? {} : { example }),
        },
      },
    },
  };
}

function acceptsNothing(body: z.ZodType): boolean {
  return body.safeParse(undefined).success;
}

function successes(endpoint: Endpoint, operation: Operation): Json {
  const statuses = [endpoint.ok, ...(operation.also ?? []).filter((status) => status < 400)];
  const tag = endpoint.moving === null ? {} : { ETag: { $ref: '#/components/headers/ETag' } };
  const headers = { ...answerHeaders, ...tag };
  return Object.fromEntries(
    statuses.map((status) => [status, { ...success(status, operation), headers }]),
  );
}

function success(status: number, operation: Operation): Json {
  const schema = answerSchema(operation);
  return {
    description: DESCRIPTIONS[status] ?? 'Done.',
    headers: answerHeaders,
    ...(schema === undefined ? {} : { content: { 'application/json': { schema } } }),
    ...linksFrom(operation.id),
  };
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Made.',
  204: 'Done; no body.',
};

/** A refusal that answers in the shape of success: readiness says which check failed. */
function sameBody(operation: Operation): Json {
  const statuses = (operation.also ?? []).filter((status) => status >= 400);
  const answer = { ...success(200, operation), description: 'Not now: the body says why.' };
  return Object.fromEntries(statuses.map((status) => [status, answer]));
}

function answerSchema(operation: Operation): Json | undefined {
  if ('none' in operation) return undefined;
  if ('one' in operation) return refTo(operation.one);
  const items = {
    type: 'array',
    items: refTo('page' in operation ? operation.page : operation.items),
  };
  if ('items' in operation) return { type: 'object', required: ['items'], properties: { items } };
  const next_cursor = {
    type: ['string', 'null'],
    description: 'Send it as `cursor` for the next page; null on the last.',
  };
  return { type: 'object', required: ['items', 'next_cursor'], properties: { items, next_cursor } };
}

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
