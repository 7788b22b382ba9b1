/** The files of the chart that say what it is: Chart.yaml, values.yaml, values.schema.json, and the README's table. */
import { z } from 'zod';
import facts from '../../../package.json' with { type: 'json' };
import { printYaml } from './chart-text.ts';
import { GROUP } from './custom-resources.ts';
import { nest, type ValuePath, values } from './values.ts';

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
  const tree = nest((path, value) => ({ path, default: value.default }));
  return `${WRITTEN}${printValues(tree, '')}`;
}

function printValues(tree: object, indent: string): string {
  return Object.entries(tree)
    .map(([name, node]) => {
      if (!isLeaf(node)) return `${indent}${name}:\n${printValues(node, `${indent}  `)}`;
      const { description } = values[node.path];
      const text = printYaml({ [name]: node.default }).trimEnd();
      return `${`# ${description}\n${text}`.replaceAll(/^/gm, indent)}\n`;
    })
    .join('');
}

type Leaf = { path: ValuePath; default: unknown };

function isLeaf(node: unknown): node is Leaf {
  return typeof node === 'object' && node !== null && 'path' in node;
}

/** Strict: a value that the chart does not know is a mistake of spelling. */
export function valuesSchema(): string {
  const tree = nest((_, { type, description, required }) => {
    const described = type.describe(description);
    return required ? described : described.optional();
  });
  const schema = z.toJSONSchema(toZod({ ...tree, global: z.looseObject({}).optional() }), {
    target: 'draft-7',
    io: 'input',
  });
  return `${JSON.stringify({ ...schema, title: 'Values of the chart tintype' }, null, 2)}\n`;
}

function toZod(tree: object): z.ZodType {
  const shape = Object.entries(tree).map(([name, node]) => {
    return [name, node instanceof z.ZodType ? node : toZod(node).optional()] as const;
  });
  return z.strictObject(Object.fromEntries(shape));
}

export function valuesTable(): string {
  const rows = Object.entries(values).map(([path, { default: standard, description }]) => {
    return `| \`${path}\` | \`${JSON.stringify(standard)}\` | ${description} |`;
  });
  return ['| value | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
