/**
 * The descriptive files of the chart: Chart.yaml, values.yaml, values.schema.json, and the README's table.
 */
import { z } from 'zod';
import { GROUP } from '../../../operator/kinds.ts';
import facts from '../../../package.json' with { type: 'json' };
import { code, table } from '../reference/markdown.ts';
import { printYaml } from './chart-text.ts';
import { isValue, nest, type Tree, type Value, values } from './values.ts';

export const WRITTEN =
  '# Written by `make generate` from config/generate/manifests. Do not edit.\n';

export function chartFile(crds: readonly Crd[]): string {
  return (
    WRITTEN +
    printYaml({
      apiVersion: 'v2',
      name: 'tintype',
      description:
        'The operator of Tintype, a multi-tenant image service: projects, keys and watermarks declared as YAML.',
      type: 'application',
      version: facts.version,
      appVersion: facts.version,
      // Needed for ValidatingAdmissionPolicy and selectable fields of custom resources.
      kubeVersion: '>=1.31.0-0',
      keywords: ['images', 'image-processing', 'cdn', 'operator'],
      annotations: {
        'artifacthub.io/category': 'storage',
        'artifacthub.io/license': facts.license,
        'artifacthub.io/operator': 'true',
        'artifacthub.io/operatorCapabilities': 'Full Lifecycle',
        'artifacthub.io/crds': printYaml(crds.map(printCrdNote)),
      },
    })
  );
}

export type Crd = { kind: string; plural: string; version: string; description: string };

function printCrdNote({ kind, plural, version, description }: Crd): object {
  return { kind, version, name: `${plural}.${GROUP}`, displayName: kind, description };
}

/** The default values, each below its description. */
export function valuesFile(): string {
  return `${WRITTEN}${printValues(nest(), '')}`;
}

function printValues(tree: Tree, indent: string): string {
  return Object.entries(tree)
    .map(([name, node]) => {
      if (!isValue(node)) return `${indent}${name}:\n${printValues(node, `${indent}  `)}`;
      const text = printYaml({ [name]: node.default }).trimEnd();
      return `${`# ${node.description}\n${text}`.replaceAll(/^/gm, indent)}\n`;
    })
    .join('');
}

/** Strict: a value that the chart does not know is a misspelling. */
export function valuesSchema(): string {
  const all = z.strictObject({ ...shapeOf(nest()), global: z.looseObject({}).optional() });
  const schema = z.toJSONSchema(all, { target: 'draft-7', io: 'input' });
  return `${JSON.stringify({ ...schema, title: 'Values of the chart tintype' }, null, 2)}\n`;
}

/**
 * Helm drops null values before it checks the schema: without `required`, a template would fail on
 * a missing value.
 */
function shapeOf(tree: Tree): Record<string, z.ZodType> {
  const shape = Object.entries(tree).map(([name, node]) => {
    const type = isValue(node)
      ? node.type.describe(node.description)
      : z.strictObject(shapeOf(node));
    return [name, isNeeded(node) ? type : type.optional()] as const;
  });
  return Object.fromEntries(shape);
}

function isNeeded(node: Value | Tree): boolean {
  if (isLater(node)) return false;
  return !isValue(node) || !isEmpty(node.default);
}

function isLater(node: Value | Tree): boolean {
  return isValue(node) ? node.later === true : Object.values(node).every(isLater);
}

/**
 * Defaults that a template may find absent: empty values, and any map, as Kubernetes has its own
 * default for one.
 */
function isEmpty(standard: unknown): boolean {
  if (Array.isArray(standard)) return standard.length === 0;
  return !standard || typeof standard === 'object';
}

export function valuesTable(): string {
  const rows = Object.entries(values).map(([path, { default: standard, description }]) => [
    code(path),
    code(JSON.stringify(standard)),
    description,
  ]);
  return table(['value', 'default', 'meaning'], rows).trimEnd();
}
