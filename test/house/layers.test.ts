import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Import, importsOf, projectRoot, sourceFiles } from './source-files.ts';

/**
 * Which folders may import which, from the table of docs/architecture.md. For each file, the
 * longest matching prefix applies.
 */
const MAY_IMPORT = readTable();

/**
 * What the entry of a process may import in addition to its layer, because it constructs the
 * dependencies of the others.
 */
const ROOTS_IMPORT = MAY_IMPORT.get('*/main.ts') ?? [];

const OPEN_TELEMETRY = 'runtime/platform/tracing/open-telemetry.ts';

/** Packages that only one place may import. */
const ONLY_IN: Record<string, readonly string[]> = {
  pg: ['runtime/db/client.ts', 'runtime/db/connection.ts'],
  'node-pg-migrate': ['runtime/db/migrate.ts'],
  sharp: ['runtime/worker/'],
  express: ['runtime/api/'],
  jose: ['runtime/platform/identity.ts', 'runtime/standalone/identity-provider.ts'],
  pino: ['runtime/platform/log.ts'],
  'prom-client': [
    'runtime/platform/metrics.ts',
    'runtime/platform/list-metrics.ts',
    'operator/kube/metrics.ts',
  ],
  '@aws-sdk/client-s3': ['runtime/platform/storage/s3'],
  '@aws-sdk/s3-request-presigner': ['runtime/platform/storage/s3'],
  amqplib: ['runtime/platform/queue/rabbitmq'],
  ...allIn(OPEN_TELEMETRY, [
    '@opentelemetry/api',
    '@opentelemetry/sdk-trace',
    '@opentelemetry/resources',
    '@opentelemetry/exporter-trace-otlp-http',
  ]),
  commander: ['runtime/main.ts', 'runtime/cli/'],
};

const files = sourceFiles(['runtime', 'operator']);
const imports = files.flatMap(importsOf);

describe('the import rules', () => {
  it('find the imports of the code', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(100);
  });

  it('forbid imports across layers', () => {
    expect(imports.filter((each) => !each.isPackage && !isAllowed(each)).map(print)).toEqual([]);
  });

  it('cover every folder of the code in the table of docs/architecture.md', () => {
    const folders = files.map((file) => /^(?:runtime\/[\w-]+|operator)\//.exec(file)?.[0]);
    const inFolders = folders.filter((folder) => folder !== undefined);
    expect([...MAY_IMPORT.keys()]).toEqual(expect.arrayContaining(inFolders));
    expect(MAY_IMPORT.get('runtime/core/')).toEqual([]);
    expect(ROOTS_IMPORT).toContain('runtime/actions/');
  });

  it('allow browser code only types from the server SDK and the picker protocol', () => {
    const values = imports
      .filter(({ file }) => /^runtime\/(?:sdk\/browser|web)\//.test(file))
      .filter(({ target }) => /^runtime\/sdk\/(?:server\/|picker-protocol)/.test(target))
      .filter(({ isTypeOnly }) => !isTypeOnly);
    expect(values.map(print)).toEqual([]);
  });

  it('allow only zod and node:crypto in the core', () => {
    const impure = imports
      .filter((each) => each.isPackage && each.file.startsWith('runtime/core/'))
      .filter((each) => !['zod', 'node:crypto'].includes(each.target));
    expect(impure.map(print)).toEqual([]);
  });

  it('allow each infrastructure library only in its own place', () => {
    const strayed = imports.filter((each) => {
      const homes = each.isPackage ? ONLY_IN[each.target] : undefined;
      return homes !== undefined && !homes.some((home) => each.file.startsWith(home));
    });
    expect(strayed.map(print)).toEqual([]);
  });

  it('load OpenTelemetry only if a collector is configured', () => {
    const loading = imports.filter(({ target }) => target === OPEN_TELEMETRY);
    expect(loading.map(print)).toEqual([
      `runtime/platform/tracing/start-tracing.ts imports ${OPEN_TELEMETRY}`,
    ]);
    const text = readFileSync(join(projectRoot, loading[0]?.file ?? ''), 'utf8');
    expect(text).toMatch(/endpoint === undefined\) return;\n.*await import\(/);
  });

  it('forbid imports of the product in black-box tests', () => {
    const inside = sourceFiles(['test/contract'])
      .flatMap(importsOf)
      .filter((each) => /^(runtime|operator)\//.test(each.target));
    expect(inside.map(print)).toEqual([]);
  });
});

function allIn(home: string, packages: string[]): Record<string, readonly string[]> {
  return Object.fromEntries(packages.map((name) => [name, [home]]));
}

/** Returns each folder of the table with what it may import. Folders end with a slash. */
function readTable(): Map<string, string[]> {
  const text = readFileSync(join(projectRoot, 'docs/architecture.md'), 'utf8');
  const [, table = ''] = /^\| folder \| may import \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const pathsOf = (cell: string) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) =>
      path.endsWith('.ts') ? path : `${path}/`,
    );
  const rows = table.trimEnd().split('\n');
  return new Map(
    rows.flatMap((row) => {
      const [, folders = '', imported = ''] = row.split('|');
      return pathsOf(folders).map((folder) => [folder, pathsOf(imported)] as const);
    }),
  );
}

function isAllowed({ file, target }: Import): boolean {
  if (file === 'runtime/main.ts') return isProcessEntry(target);
  const layer = [...MAY_IMPORT.keys()]
    .filter((prefix) => file.startsWith(prefix))
    .sort((a, b) => b.length - a.length)[0];
  const isRoot = file.endsWith('/main.ts');
  const own = layer === undefined ? [] : [layer, ...(MAY_IMPORT.get(layer) ?? [])];
  const allowed = [...own, ...(isRoot ? ROOTS_IMPORT : [])];
  return allowed.some((prefix) => target.startsWith(prefix));
}

// The `tintype` command may import only the entry modules of processes, which it does on demand.
function isProcessEntry(target: string): boolean {
  const isEntry = /\/(main|token|advice|config|instance|tune-garbage-collection)\.ts$/.test(target);
  return isEntry || target.startsWith('runtime/cli/') || target === 'package.json';
}

function print({ file, target }: Import): string {
  return `${file} imports ${target}`;
}
