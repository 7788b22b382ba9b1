/** One endpoint as an Operation Object: all its parameters, and every status that it can return. */
import type { z } from 'zod';
import { inboundCredential } from '../../../runtime/api/auth/inbound-signature.ts';
import { isOpen } from '../../../runtime/api/auth/principal.ts';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { endpointNotes, nameOf } from '../reference/endpoint-notes.ts';
import { answerExamples } from './answer-examples.ts';
import { bodyExamples } from './body-examples.ts';
import type { Json } from './document.ts';
import { examples } from './examples.ts';
import { jsonSchema, withoutLinks } from './json-schema.ts';
import { linksFrom } from './links.ts';
import { type Operation, operations } from './operations.ts';
import { parameterNotes, pathParameters } from './parameters.ts';
import { answerHeaders, isConditional, refusalResponses, refusalsOf } from './refusals.ts';
import { securityOf } from './security.ts';
import { unreadStatuses } from './unread.ts';

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
      ...unreadStatuses,
    },
  };
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

/** An addition of ours to Spec: Conventions. */
function headerParameters(endpoint: Endpoint): Json[] {
  return [...(isConditional(endpoint) ? [ifMatch] : []), ...idempotencyKey(endpoint)];
}

const ifMatch: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag that the write expects; 412 if the record has a different one by now.',
  schema: { type: 'string', pattern: '^[\\x20-\\x7e]+$' },
};

function idempotencyKey({ method, auth }: Endpoint): Json[] {
  if (method !== 'POST' || isOpen(auth) || inboundCredential(auth) !== undefined) return [];
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'A key that you choose. Repeating the call within a day returns the first response.',
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
  const headers = { ...answerHeaders, ...keeping(endpoint), ...tag };
  return Object.fromEntries(
    statuses.map((status) => [status, { ...success(status, operation), headers }]),
  );
}

function keeping({ cache_control }: Endpoint): Json {
  if (cache_control === 'no-store') return {};
  const description = 'How long the response may be cached.';
  return { 'Cache-Control': { description, schema: { type: 'string', const: cache_control } } };
}

function success(status: number, operation: Operation): Json {
  return {
    description: DESCRIPTIONS[status] ?? 'Done.',
    headers: answerHeaders,
    ...answerContent(operation),
    ...linksFrom(operation.id),
  };
}

function answerContent(operation: Operation): Json {
  if ('picture' in operation)
    return { content: { [operation.picture]: { schema: { type: 'string', format: 'binary' } } } };
  const schema = answerSchema(operation);
  if (schema === undefined) return {};
  return { content: { 'application/json': { schema, ...ownExample(operation) } } };
}

/**
 * For a list: its only example, on the last page. Records have their own example unless the
 * operation overrides it.
 */
function ownExample(operation: Operation): Json {
  const example = answerExamples[operation.id];
  if ('page' in operation)
    return { example: { items: [example ?? exampleOf(operation.page)], next_cursor: null } };
  if ('items' in operation) return { example: { items: [exampleOf(operation.items)] } };
  return example === undefined ? {} : { example };
}

function exampleOf(record: string): unknown {
  const found = Object.entries(examples).find(([name]) => name === record)?.[1];
  if (found === undefined) throw new Error(`openapi/examples.ts has no ${record}`);
  return found;
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  204: 'Done; no body.',
};

/** A refusal with the body of a success: readiness says which check failed. */
function sameBody(operation: Operation): Json {
  const statuses = (operation.also ?? []).filter((status) => status >= 400);
  const answer = { ...success(200, operation), description: 'Not ready: the body says why.' };
  return Object.fromEntries(statuses.map((status) => [status, answer]));
}

function answerSchema(operation: Operation): Json | undefined {
  if ('none' in operation || 'picture' in operation) return undefined;
  if ('one' in operation) return refTo(operation.one);
  const items = {
    type: 'array',
    items: refTo('page' in operation ? operation.page : operation.items),
  };
  if ('items' in operation) return { type: 'object', required: ['items'], properties: { items } };
  const next_cursor = {
    type: ['string', 'null'],
    description: 'Send this as `cursor` for the next page; null on the last page.',
  };
  const properties = { items, next_cursor, ...operation.beside };
  return { type: 'object', required: ['items', 'next_cursor'], properties };
}

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
