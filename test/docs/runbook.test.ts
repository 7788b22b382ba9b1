// The runbook's kubectl commands name objects that the operator renders, and existing fields of an ImageService.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RenderedObject } from '../../operator/image-service/render/object.ts';
import { allObjects, renderInstallation } from '../../operator/image-service/render/render.ts';
import { resourcesOf, slotsOf } from '../../operator/image-service/render/sizes.ts';
import { imageServiceSpec } from '../../operator/image-service/schema.ts';
import { readFences } from '../contract/support/blocks.ts';
import { full, installation, least } from '../operator/image-service/samples.ts';
import { projectRoot, readPages } from './documents.ts';

type Deployment = RenderedObject & { spec: { template: { metadata: RenderedObject['metadata'] } } };

const operator: Deployment = parse(read('config/manager/deployment.yaml'));
const of = installation(full, { keda: 'present' });
const objects = [...allObjects(renderInstallation(of)), operator];
const names = objects.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
const labels = [
  ...objects.map(({ metadata }) => metadata.labels),
  operator.spec.template.metadata.labels,
];

const pages = [...readPages().keys()].filter((page) => page.startsWith('docs/runbook/'));
const typed = pages.flatMap((page) => commandsOf(page).map((command) => [page, command] as const));

/** Commands without a namespace. */
const CLUSTER_WIDE = /^kubectl (?:cordon|get crd|rollout undo)\b|--all-namespaces/;

function read(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}

/** The lines of shell blocks and the code spans that begin with kubectl. */
function commandsOf(page: string): string[] {
  const shell = readFences(page).map(({ text }) => text.replaceAll(/\\\n\s*/g, ''));
  const spans = [...read(page).matchAll(/`(kubectl [^`\n]+)`/g)].map(([, span = '']) => span);
  return [...shell.flatMap((text) => text.split('\n')), ...spans].filter((line) =>
    line.startsWith('kubectl '),
  );
}

it('the runbook contains kubectl commands', () => {
  expect(typed.length).toBeGreaterThan(20);
});

it.each(typed)(
  'the commands of %s name existing objects, labels and fields: %s',
  (_page, command) => {
    if (!CLUSTER_WIDE.test(command)) expect(command).toContain(' --namespace tintype-system ');
    for (const [name] of command.matchAll(/\bdeployment[ /][\w-]+/g)) {
      expect(names).toContain(name.replace(' ', '/'));
    }
    for (const [, selector = ''] of command.matchAll(/--selector (\S+)/g)) {
      const wanted = Object.fromEntries(selector.split(',').map((each) => each.split('=')));
      expect(labels).toContainEqual(expect.objectContaining(wanted));
    }
    for (const [, patch = '{}'] of command.matchAll(/--patch '([^']+)'/g)) {
      expect(() => imageServiceSpec.parse({ ...least, ...JSON.parse(patch).spec })).not.toThrow();
    }
  },
);

it.each(pages)('%s names only existing fields of an ImageService', (page) => {
  const fields = read('docs/image-service.md');
  for (const [, field = ''] of read(page).matchAll(/`spec\.([A-Za-z.]+)/g)) {
    expect(fields, field).toContain(`| \`${field}\` |`);
  }
});

it('the runbook lists the default resources of each part', () => {
  const page = read('docs/runbook/README.md');
  const row = (label: string, { requests, limits }: ReturnType<typeof resourcesOf>) =>
    `| ${label} | ${requests.cpu} | ${requests.memory} | ${limits.memory} |`;
  const parts = ['api', 'delivery', 'dispatcher', 'worker-ingest', 'worker-render'] as const;
  const embedded = imageServiceSpec.parse({ ...least, scanner: { kind: 'Embedded' } });
  for (const part of parts)
    expect(page).toContain(row(`\`main-${part}\``, resourcesOf(least, part)));
  expect(page).toContain(row('… with the embedded scanner', resourcesOf(embedded, 'dispatcher')));
  expect([slotsOf(least, 'ingest'), slotsOf(least, 'render')]).toEqual([2, 2]);
  expect(page).toContain('A worker has 2 slots.');
});
