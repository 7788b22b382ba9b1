/** Every generated file: its path from the project root, and its text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import facts from '../../../package.json' with { type: 'json' };
import { accessManifests } from './access.ts';
import { argocdFiles } from './argocd.ts';
import { type Crd, chartFile, valuesFile, valuesSchema, valuesTable, WRITTEN } from './chart.ts';
import { printTemplate, printYaml } from './chart-text.ts';
import { dashboardFile, dashboardManifest } from './dashboard.ts';
import { environmentCheck } from './environment.ts';
import { fluxFiles } from './flux.ts';
import { helmIgnore, helpers, notes } from './helm-files.ts';
import type { Manifest } from './manifest.ts';
import { monitoringManifests } from './monitoring.ts';
import { operatorManifests } from './operator.ts';
import { peopleManifests } from './people.ts';
import { chartPlace, kustomizePlace, NAMESPACE } from './place.ts';
import { privateCaKustomization } from './private-ca.ts';
import { staffPolicyManifests } from './staff-policy.ts';

/**
 * Every file in these folders is generated; the folders beside them also hold files written by
 * hand.
 */
export const writtenFolders = [
  'config/crd',
  'config/rbac',
  'config/manager',
  'config/network-policy',
  'config/admission-policy',
  'config/default',
  'config/prometheus',
  'config/private-ca',
  'config/argocd',
  'config/flux',
  'config/grafana',
  'charts/tintype',
];

const manifests: readonly Manifest[] = [
  ...operatorManifests,
  ...accessManifests,
  ...peopleManifests,
  ...staffPolicyManifests,
  ...monitoringManifests,
  dashboardManifest,
];

type Files = [path: string, text: string][];

export function writtenFiles(root: string): Map<string, string> {
  const crds = readCrds(root);
  const readme = readFileSync(join(import.meta.dirname, 'chart-readme.md'), 'utf8');
  return new Map<string, string>([
    ...crdFiles(crds),
    ...manifests.flatMap(kustomizeFile),
    ...kustomizations(crds),
    ...manifests.map(chartTemplate),
    ['charts/tintype/Chart.yaml', chartFile(crds)],
    ['charts/tintype/values.yaml', valuesFile()],
    ['charts/tintype/values.schema.json', valuesSchema()],
    ['charts/tintype/README.md', readme.replace('<!-- values -->', valuesTable())],
    ['charts/tintype/.helmignore', helmIgnore],
    ['charts/tintype/templates/_helpers.tpl', helpers],
    ['charts/tintype/templates/checks.yaml', wrap(environmentCheck)],
    ['charts/tintype/templates/NOTES.txt', notes],
    ...argocdFiles,
    ...fluxFiles,
    dashboardFile,
  ]);
}

type ReadCrd = Crd & { file: string; text: string };

function readCrds(root: string): ReadCrd[] {
  return readdirSync(join(root, 'crds'))
    .sort()
    .map((file) => {
      const text = readFileSync(join(root, 'crds', file), 'utf8');
      const { names, versions } = parse(text).spec;
      const [version] = versions;
      const { description } = version.schema.openAPIV3Schema;
      return { ...names, version: version.name, description, file, text };
    });
}

function crdFiles(crds: readonly ReadCrd[]): Files {
  return crds.flatMap(({ file, text }): Files => {
    const crd = parse(text);
    crd.metadata.annotations = { 'helm.sh/resource-policy': KEEP };
    const template = printTemplate(crd).replace(ANNOTATED, KEEP_LINES);
    return [
      [`config/crd/${file}`, text],
      [`charts/tintype/templates/crds/${file}`, wrap(template, '.Values.crds.enabled')],
    ];
  });
}

const KEEP = 'keep';
const ANNOTATED = / {2}annotations:\n {4}helm.sh\/resource-policy: keep\n/;
const KEEP_LINES = `  {{- if .Values.crds.keep }}
  annotations:
    helm.sh/resource-policy: keep
  {{- end }}
`;

function kustomizeFile({ folder, file, make }: Manifest): Files {
  if (folder === undefined) return [];
  return [[`config/${folder}/${file}.yaml`, WRITTEN + printYaml(make(kustomizePlace))]];
}

function chartTemplate({ file, make, when, forEach }: Manifest): [string, string] {
  const text = printTemplate(make(chartPlace));
  const looped =
    forEach === undefined
      ? text
      : `{{- range $namespace := ${forEach} }}\n---\n${text}{{- end }}\n`;
  return [`charts/tintype/templates/${file}.yaml`, wrap(looped, when)];
}

function wrap(text: string, condition?: string): string {
  const written =
    '{{- /* Written by `make generate` from config/generate/manifests. Do not edit. */}}\n';
  return written + (condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`);
}

const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: NAMESPACE,
    labels: {
      'app.kubernetes.io/name': 'tintype',
      ...Object.fromEntries(
        ['enforce', 'audit', 'warn'].map((mode) => [
          `pod-security.kubernetes.io/${mode}`,
          'restricted',
        ]),
      ),
    },
  },
};

function kustomizations(crds: readonly ReadCrd[]): Files {
  const inFolder = (folder: string) =>
    manifests.filter((each) => each.folder === folder).map(({ file }) => `${file}.yaml`);
  const all = ['crd', 'rbac', 'manager', 'network-policy', 'admission-policy'];
  return [
    kustomization('crd', { resources: crds.map(({ file }) => file) }),
    kustomization('rbac', { resources: inFolder('rbac') }),
    ['config/manager/namespace.yaml', WRITTEN + printYaml(namespace)],
    kustomization('manager', {
      resources: ['namespace.yaml', ...inFolder('manager')],
      images: [{ name: 'tintype', newName: 'tintype', newTag: facts.version }],
    }),
    kustomization('network-policy', { resources: inFolder('network-policy') }),
    kustomization('admission-policy', { resources: inFolder('admission-policy') }),
    kustomization('default', { resources: all.map((folder) => `../${folder}`) }),
    kustomization('private-ca', privateCaKustomization),
    kustomization('prometheus', { resources: inFolder('prometheus') }),
    kustomization('argocd', { resources: ['argocd-cm.yaml'] }),
    kustomization('flux', { resources: ['projects.yaml'] }),
  ];
}

function kustomization(folder: string, content: object): [string, string] {
  const head = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };
  return [`config/${folder}/kustomization.yaml`, WRITTEN + printYaml({ ...head, ...content })];
}
