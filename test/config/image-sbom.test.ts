/** The image's bill of materials lists its installed Debian packages and Node, besides the npm packages. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../house/source-files.ts';

type Component = { 'bom-ref': string; name: string; version: string; purl: string };

it('the image’s SBOM lists its npm packages, each Debian package once with its version, and Node', () => {
  const npm = { 'bom-ref': 'zod@4.6.7', name: 'zod', version: '4.6.7', purl: 'pkg:npm/zod@4.6.7' };
  const scoped = { name: '@scope/pkg', version: '1.0.0', purl: 'pkg:npm/%40scope/pkg@1.0.0' };
  const base64 = { name: 'base64-js', version: '1.5.1', purl: 'pkg:npm/base64-js@1.5.1' };
  const replaced = { ...base64, name: '@tensorflow/tfjs' };
  const given = [npm, { 'bom-ref': 'b', ...scoped }, { 'bom-ref': 'c', ...replaced }];
  const input = JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', components: given });
  const script = join(projectRoot, 'config/image-sbom.ts');
  const output = execFileSync(process.execPath, [script], { input, encoding: 'utf8' });
  const { components, ...head }: { components: Component[] } = JSON.parse(output);
  expect(head).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.5' });
  expect(components.slice(0, 3)).toMatchObject([npm, scoped, base64]);
  expect(components.at(-1)).toMatchObject({ name: 'node', version: process.versions.node });
  const found = components.filter(({ name }) => name === 'bubblewrap');
  expect(found).toMatchObject([{ type: 'library', version: ask('Version') }]);
  expect(found[0]?.purl).toMatch(
    /^pkg:deb\/debian\/bubblewrap@[^+:]+\?arch=\w+&distro=debian-\d+$/,
  );
  expect(found[0]?.purl).toContain(`arch=${ask('Architecture')}&`);
  expect(new Set(components.map((each) => each['bom-ref'])).size).toBe(components.length);
});

function ask(field: string): string {
  const format = `\${${field}}`;
  return execFileSync('dpkg-query', ['--show', '--showformat', format, 'bubblewrap'], {
    encoding: 'utf8',
  });
}
