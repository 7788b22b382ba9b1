/**
 * Converts a row of the table of kinds to its CustomResourceDefinition. The API server requires a structural schema:
 * everything inlined, no additionalProperties: false, no anyOf. What zod expresses otherwise is translated here.
 */
import { z } from 'zod';
import { isRecord } from '../runtime/core/json.ts';
import { type Column, type Described, GROUP, VERSION } from './kinds.ts';

export function printCrd(kind: Described): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        categories: ['tintype'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [...kind.columns, ...sharedColumns].map(printColumn),
          ...selectableFields(kind),
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}

function selectableFields({ selectable }: Described): object {
  return selectable === undefined
    ? {}
    : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) };
}

const sharedColumns: readonly Column[] = [
  { name: 'Ready', type: 'string', path: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', path: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
  {
    ...{ name: 'Message', type: 'string', priority: 1 },
    path: '.status.conditions[?(@.type=="Ready")].message',
  },
];

function printColumn({ path: jsonPath, ...column }: Column): object {
  return { ...column, jsonPath };
}

function objectSchema(kind: Described): object {
  return {
    type: 'object',
    description: kind.description,
    required: ['spec'],
    ...(kind.rules === undefined ? {} : { 'x-kubernetes-validations': kind.rules }),
    properties: {
      apiVersion: { type: 'string', description: 'The version of this schema.' },
      kind: { type: 'string', description: 'The kind of this resource.' },
      metadata: { type: 'object' },
      spec: { description: 'The declared state.', ...structural(kind.spec) },
      status: {
        description: 'The observed state, written by the operator.',
        ...structural(kind.status),
        // A resource that no pass has seen yet must not count as ready.
        default: { observedGeneration: -1 },
      },
    },
  };
}

type Node = { [key: string]: unknown };

/** The schema of a zod type, in the form that the API server accepts. */
export function structural(type: z.ZodType): Node {
  const schema = z.toJSONSchema(type, { target: 'openapi-3.0', io: 'input', reused: 'inline' });
  return cleanNode(schema);
}

const RULES = 'x-kubernetes-validations';
// JSON Schema keywords that a structural schema must not contain, or that have no effect in it.
const DROPPED = new Set(['$schema', 'additionalProperties', '~standard', 'pattern']);
/** Keywords that a rule covers: with them the API server would add a message of its own. */
const SAID_BY_RULES = new Set(['minLength', 'minimum', 'maximum']);
const REFUSED = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'nullable'];

function cleanNode(node: Node): Node {
  const refused = REFUSED.filter((word) => word in node);
  if (refused.length > 0) throw new Error(`no structural schema may have ${refused.join(', ')}`);
  const said = { ...node, ...describeBounds(node) };
  const kept = Object.entries(said).filter(([word, value]) => !isDropped(node, word, value));
  return Object.fromEntries(kept.map(([word, value]) => [word, cleanWord(word, value)]));
}

/**
 * Adds bounds and defaults to the description: `kubectl explain` shows neither rules nor defaults.
 */
function describeBounds(node: Node): Node {
  const { description, minimum, maximum, default: usual } = node;
  const isBounded = RULES in node && minimum !== undefined && minimum !== maximum;
  if (description === undefined || !isBounded) return {};
  const otherwise = usual === undefined ? '' : `; default ${usual}`;
  return { description: `${description} From ${minimum} to ${maximum}${otherwise}.` };
}

function isDropped(node: Node, word: string, value: unknown): boolean {
  if (DROPPED.has(word)) return true;
  const isBound = word === 'minimum' || word === 'maximum';
  if (isBound && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) return true;
  if (word === 'minLength' && value === 0) return true;
  return RULES in node && SAID_BY_RULES.has(word);
}

function cleanWord(word: string, value: unknown): unknown {
  if (word === 'items' && isRecord(value)) return cleanNode(value);
  if (word !== 'properties' || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [
      name,
      isRecord(child) ? cleanNode(child) : child,
    ]),
  );
}
