import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readCommands } from '../contract/support/blocks.ts';
import { projectRoot } from '../house/source-files.ts';
import { type KubeObject, run } from './rendered.ts';

/** Renders what the README's commands under that heading install. */
function releases(): KubeObject[][] {
  return readCommands('charts/tintype/README.md', 'A second release').map((command) => {
    const line = command.replace(/^helm (?:upgrade --install|install) /, '');
    const words = line.replaceAll("'", '').split(' ');
    const args = words.filter((word) => word !== '--create-namespace');
    return parseAllDocuments(run('helm', ['template', ...args]))
      .map((document) => document.toJS() as KubeObject | null)
      .filter((object) => object !== null);
  });
}

const CRDS = 'CustomResourceDefinition';

describe('the two releases of the chart’s README', () => {
  const [first = [], second = []] = releases();
  const names = (objects: readonly KubeObject[]) =>
    objects.map(({ kind, metadata: { namespace, name } }) => `${kind} ${namespace ?? ''} ${name}`);

  it('have no object in common, and only the first one includes the CRDs', () => {
    expect(first.filter(({ kind }) => kind === CRDS)).toHaveLength(5);
    expect(second.filter(({ kind }) => kind === CRDS)).toEqual([]);
    expect(second.length).toBeGreaterThan(10);
    const common = names(first).filter((name) => names(second).includes(name));
    expect(common).toEqual([]);
  });

  it('watch different namespaces', () => {
    const watched = [first, second].map((objects) => {
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      const env: { name: string; value: string }[] =
        deployment?.spec.template.spec.containers[0].env;
      return env.find(({ name }) => name === 'TINTYPE_WATCH_NAMESPACES')?.value;
    });
    expect(watched).toEqual(['shop', 'blog']);
    expect(
      [...names(first), ...names(second)].filter((name) => /^ClusterRoleB/.test(name)),
    ).toEqual([]);
  });

  it('are linked from the documentation of the ImageService', () => {
    const page = readFileSync(join(projectRoot, 'docs/image-service.md'), 'utf8');
    expect(page).toContain('(../charts/tintype/README.md)');
    expect(page).toContain('`crds.enabled=false`');
  });
});
