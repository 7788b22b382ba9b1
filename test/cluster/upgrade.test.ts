import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type KubeObject, kustomize, run } from '../config/rendered.ts';
import { projectRoot } from '../house/source-files.ts';
import { least } from '../operator/image-service/samples.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';

// A separate control plane: it gets the definitions of two releases.
let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane();
}, 300_000);

afterAll(() => plane?.stop());

const previous = join(projectRoot, 'test/cluster/previous/install.yaml');

function kubectl(args: readonly string[], input?: string): string {
  return run('kubectl', ['--kubeconfig', join(plane.folder, 'admin.kubeconfig'), ...args], input);
}

/** Applies manifests as `make install` does. */
function install(yaml: string): void {
  const how = ['apply', '--server-side', '--force-conflicts', '--field-manager=tintype-install'];
  kubectl([...how, '--filename', '-'], yaml);
}

/**
 * The version of each object in these manifests, without changes of its status: the generation, or
 * the resource version of objects without one.
 */
function versions(objects: readonly KubeObject[]): Map<string, string> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const columns =
    'custom-columns=:kind,:metadata.name,:metadata.generation,:metadata.resourceVersion';
  const lines = kubectl(['get', '--filename', '-', '--no-headers', '--output', columns], list);
  return new Map(
    lines
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/))
      .map(([kind, name, generation = '', version = '']) => {
        return [`${kind} ${name}`, generation === '<none>' ? version : generation];
      }),
  );
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}

const samples = [
  ['Project', { displayName: 'Shop', routing: { perProject: 'Always' } }],
  ['SigningKey', { projectRef: { name: 'shop' } }],
  ['Recipe', { projectRef: { name: 'shop' }, transformChain: 'resize/640x480' }],
  ['WatermarkPreset', { projectRef: { name: 'shop' }, fileSlug: 'logo.png' }],
  ['ImageService', least],
].map(([kind, spec]) => {
  const metadata = { name: 'shop', namespace: 'default' };
  return { apiVersion: 'tintype.dev/v1alpha1', kind, metadata, spec } as KubeObject;
});

describe('an upgrade from the previous release', () => {
  it('writes only what differs, only once, and touches no resource', async () => {
    const before = await readFile(previous, 'utf8');
    const older = parseAllDocuments(before).map((each) => each.toJS() as KubeObject);
    const current = kustomize('default');
    install(before);
    install(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: samples }));
    const resources = versions(samples);
    const first = versions(
      current.filter((each) => older.some((other) => nameOf(other) === nameOf(each))),
    );

    const yaml = run('kubectl', ['kustomize', 'config/default']);
    install(yaml);
    expect(versions(samples)).toEqual(resources);
    const second = versions(current);
    const isSame = (object: KubeObject) =>
      older.some((other) => JSON.stringify(other) === JSON.stringify(object));
    const kept = current.filter(isSame).map(nameOf);
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.filter((name) => second.get(name) !== first.get(name))).toEqual([]);

    install(yaml);
    expect(versions(current)).toEqual(second);
    expect(versions(samples)).toEqual(resources);
  }, 300_000);
});
