import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { clusterKinds } from '../../operator/cluster-kinds.ts';
import { printCrd, structural } from '../../operator/crd.ts';
import { clusterKindNames, kinds as tenantKinds } from '../../operator/kinds.ts';

const kinds = [...tenantKinds, ...clusterKinds];

it('the kinds that only a cluster has are those that a folder of documents leaves out', () => {
  expect(clusterKinds.map(({ kind }) => kind)).toEqual(clusterKindNames);
});

type Schema = {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  [word: string]: unknown;
};

/** All schemas of a tree with their paths, including the root. */
function walk(schema: Schema, path: string): [string, Schema][] {
  const children = Object.entries(schema.properties ?? {});
  return [
    [path, schema],
    ...children.flatMap(([name, child]) => walk(child, `${path}.${name}`)),
    ...(schema.items === undefined ? [] : walk(schema.items, `${path}[]`)),
  ];
}

function isAlwaysThere(schema: Schema, [field, ...rest]: string[]): boolean {
  if (field === undefined) return true;
  const child = schema.properties?.[field];
  const isRequired = (schema['required'] as string[] | undefined)?.includes(field) ?? false;
  const isThere = isRequired || child?.['default'] !== undefined;
  return child !== undefined && isThere && isAlwaysThere(child, rest);
}

const root = new URL('../..', import.meta.url).pathname;

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('the CRD of %s', (_name, kind) => {
  const all = [
    ...walk(structural(kind.spec) as Schema, 'spec'),
    ...walk(structural(kind.status) as Schema, 'status'),
  ];
  const paths = (is: (schema: Schema) => boolean) =>
    all.filter(([, schema]) => is(schema)).map(([path]) => path);

  it('is structural: every node has a type and no keyword that the API server refuses', () => {
    expect(paths((schema) => schema.type === undefined)).toEqual([]);
    expect(
      paths((schema) => 'anyOf' in schema || '$ref' in schema || 'nullable' in schema),
    ).toEqual([]);
    expect(paths((schema) => 'additionalProperties' in schema)).toEqual([]);
  });

  it('explains every field', () => {
    const unexplained = all
      .filter(([path]) => path.includes('.') && !path.endsWith('[]'))
      .filter(([, schema]) => (schema.description ?? '') === '');
    expect(unexplained.map(([path]) => path)).toEqual([]);
  });

  it('states bounds and defaults in the descriptions, as `kubectl explain` shows neither', () => {
    const unsaid = all.flatMap(([path, { description = '', default: usual, ...schema }]) => {
      const rules = (schema['x-kubernetes-validations'] ?? []) as { rule: string }[];
      const [, min, max] = /^(-?\d+) <= self && self <= (\d+)$/.exec(rules[0]?.rule ?? '') ?? [];
      const bounds = `From ${min} to ${max}`;
      return [
        ...(min === max || description.includes(bounds) ? [] : [`${path}: ${bounds}`]),
        ...(usual === undefined || description.includes('efault') ? [] : [`${path}: ${usual}`]),
      ];
    });
    expect(unsaid).toEqual([]);
  });

  it('bounds every string and list, and gives every list a list type', () => {
    const isText = (schema: Schema) => schema.type === 'string' && !schema.enum && !schema.format;
    expect(paths((schema) => isText(schema) && schema.maxLength === undefined)).toEqual([]);
    expect(paths((schema) => schema.type === 'array' && schema.maxItems === undefined)).toEqual([]);
    expect(
      paths((schema) => schema.type === 'array' && schema['x-kubernetes-list-type'] === undefined),
    ).toEqual([]);
  });

  it('has no floating point number', () => {
    expect(paths((schema) => schema.type === 'number')).toEqual([]);
  });

  it('prints no column for an optional spec field', () => {
    const optional = kind.columns
      .map(({ path }) => path.split('.').slice(1))
      .filter(
        ([root, ...path]) =>
          root === 'spec' && !isAlwaysThere(structural(kind.spec) as Schema, path),
      );
    expect(optional).toEqual([]);
  });

  it('has the Ready message as its last column, shown only by `-o wide`', () => {
    expect(JSON.stringify(printCrd(kind))).toContain(
      '{"name":"Message","type":"string","priority":1,"jsonPath":".status.conditions[?(@.type==\\"Ready\\")].message"}]',
    );
  });

  it('matches its file in crds/, which is small enough for `kubectl apply`', () => {
    const file = `${root}crds/tintype.dev_${kind.plural}.yaml`;
    expect(parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(printCrd(kind))));
    expect(readFileSync(file).length, 'what kubectl apply can carry, with room').toBeLessThan(
      64_000,
    );
  });
});

describe('the folder crds/', () => {
  it('holds one file per kind', () => {
    expect(readdirSync(`${root}crds`)).toEqual(
      kinds.map(({ plural }) => `tintype.dev_${plural}.yaml`).sort(),
    );
  });

  it('passes `crds.ts --check` without output', () => {
    const script = `${root}config/generate/crds.ts`;
    expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toBe('');
  });

  it('marks the slug of a project as immutable and starts observedGeneration at -1', () => {
    const [project] = tenantKinds;
    const printed = JSON.stringify(printCrd(project));
    expect(printed).toContain('`spec.slug` is immutable');
    expect(printed).toContain('"default":{"observedGeneration":-1}');
    expect(printed).toContain('"categories":["tintype"]');
  });
});
