/** The files of the chart that say what it is: Chart.yaml, values.yaml, values.schema.json, and the README's table. */
import { z } from 'zod';
import facts from '../../../package.json' with { type: 'json' };
import { printYaml } from './chart-text.ts';
import { GROUP } from './custom-resources.ts';
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
      // ValidatingAdmissionPolicy and selectable fields of custom resources.
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

/** Defaults under their descriptions. */
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

/** Strict: a value that the chart does not know is a mistake of spelling. */
export function valuesSchema(): string {
  const all = z.strictObject({ ...shapeOf(nest()), global: z.looseObject({}).optional() });
  const schema = z.toJSONSchema(all, { target: 'draft-7', io: 'input' });
  return `${JSON.stringify({ ...schema, title: 'Values of the chart tintype' }, null, 2)}\n`;
}

/** Helm takes away what is null before it looks at the schema: without `required` it would be missed by a template. */
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

/** What is nothing to a template when it is absent: any map too, as Kubernetes has its own default for one. */
function isEmpty(standard: unknown): boolean {
  if (Array.isArray(standard)) return standard.length === 0;
  return !standard || typeof standard === 'object';
}

export function valuesTable(): string {
  const rows = Object.entries(values).map(([path, { default: standard, description }]) => {
    return `| \`${path}\` | \`${JSON.stringify(standard)}\` | ${description} |`;
  });
  return ['| value | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
