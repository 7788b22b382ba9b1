// Completes package-lock.json: npm leaves out packages for other platforms when the registry in use does not have them,
// and `npm ci` then rejects the file. Each is added with the version that its parent asks for and the platform that its
// name states. With --check it only compares.
import { readFileSync, writeFileSync } from 'node:fs';

type Entry = {
  version: string;
  cpu?: string[];
  dev?: true;
  libc?: string[];
  optional?: true;
  os?: string[];
  optionalDependencies?: Record<string, string>;
};
type LockFile = { packages: Record<string, Entry> };

/** Parts of package names that stand for an operating system or a processor. */
const SYSTEMS: Record<string, string> = { linuxmusl: 'linux', windows: 'win32' };
const KNOWN_SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];

const path = new URL('../../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8')) as LockFile;
const missing = listMissing(lock);

if (missing.length > 0 && process.argv.includes('--check')) {
  const names = missing.map(([key]) => key.replace('node_modules/', '')).join(', ');
  process.stderr.write(`package-lock.json lacks ${names}: run make generate\n`);
  process.exitCode = 1;
} else if (missing.length > 0) {
  const packages = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) });
  const sorted = Object.fromEntries(packages.sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(path, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
}

function listMissing({ packages }: LockFile): [string, Entry][] {
  return Object.entries(packages).flatMap(([parent, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => parent !== '' && !isListed(packages, parent, name))
      .map(([name, version]): [string, Entry] => [
        `node_modules/${name}`,
        describe(name, { version, parent: entry }),
      ]),
  );
}

function isListed(packages: LockFile['packages'], parent: string, name: string): boolean {
  return `node_modules/${name}` in packages || `${parent}/node_modules/${name}` in packages;
}

/** `@scope/tool-linux-x64-musl` → { os: [linux], cpu: [x64], libc: [musl] }. */
function describe(name: string, { version, parent }: { version: string; parent: Entry }): Entry {
  const words = name.split(/[-/]/);
  const os = words
    .map((word) => SYSTEMS[word] ?? word)
    .filter((word) => KNOWN_SYSTEMS.includes(word));
  const cpu = words.filter((word) => PROCESSORS.includes(word));
  const libc = os[0] === 'linux' ? words.filter((word) => word === 'musl' || word === 'gnu') : [];
  return {
    version,
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(parent.dev ? { dev: true } : {}),
    ...(libc.length > 0 ? { libc: libc.map((word) => (word === 'gnu' ? 'glibc' : word)) } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  };
}
