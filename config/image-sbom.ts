/**
 * Completes an image's bill of materials (SBOM, CycloneDX): to the npm packages, read from `npm sbom`, it adds the
 * Debian packages of the base system, and Node: `npm sbom … | node config/image-sbom.ts`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

type Named = { type: 'application' | 'library'; name: string; version: string };
type NpmPackage = { name: string; purl: string };

const bom: { components: NpmPackage[] } = JSON.parse(await text(process.stdin));
const node: Named = { type: 'application', name: 'node', version: process.versions.node };
const components = [
  ...bom.components.map(withRealName),
  ...listDebianPackages(),
  component(node, 'generic'),
];
process.stdout.write(`${JSON.stringify({ ...bom, components })}\n`);

/**
 * npm names a package by its folder, which for a replaced one (`overrides` in package.json) is the
 * name of what it replaces; its address tells what it is.
 */
function withRealName(found: NpmPackage): object {
  const [, name = found.name] = /^pkg:npm\/(.+)@/.exec(decodeURIComponent(found.purl)) ?? [];
  return { ...found, name };
}

function listDebianPackages(): object[] {
  const system = readFileSync('/etc/os-release', 'utf8');
  const [, distribution = 'debian'] = /^ID=(.+)$/m.exec(system) ?? [];
  const [, release = ''] = /^VERSION_ID="?([^"\n]+)/m.exec(system) ?? [];
  const fields = ['db:Status-Status', 'Package', 'Version', 'Architecture'];
  const format = `${fields.map((field) => `\${${field}}`).join('\t')}\n`;
  const told = execFileSync('dpkg-query', ['--show', '--showformat', format], { encoding: 'utf8' });
  const rows = told.trimEnd().split('\n');
  return rows.flatMap((row) => {
    const [status, name = '', version = '', architecture = ''] = row.split('\t');
    if (status !== 'installed') return [];
    // Scanners look packages up by these.
    const qualifiers = `?arch=${architecture}&distro=${distribution}-${release}`;
    return [component({ type: 'library', name, version }, `deb/${distribution}`, qualifiers)];
  });
}

function component({ type, name, version }: Named, kind: string, qualifiers = ''): object {
  const address = `${encodeURIComponent(name)}@${encodeURIComponent(version)}`;
  const purl = `pkg:${kind}/${address}${qualifiers}`;
  return { 'bom-ref': purl, type, name, version, purl };
}
