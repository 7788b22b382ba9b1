/**
 * Writes the TypeScript blocks of a document as files in a folder where the package is installed. Tests import them as
 * a customer's server would; the test site serves them to pages.
 */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import own from '../../package.json' with { type: 'json' };
import { readFences } from '../contract/support/blocks.ts';
import { projectRoot } from '../house/source-files.ts';
import type { Site } from './site.ts';

export type Examples = {
  folder: string;
  /** Imports the named file and returns its exports. */
  load(name: string): Promise<Record<string, CallableFunction>>;
  close(): Promise<void>;
};

/** `here` maps values in the document to the values of the test. */
export async function writeExamples(
  document: string,
  here: Readonly<Record<string, string>>,
): Promise<Examples> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-examples-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(projectRoot, join(folder, 'node_modules/tintype'));
  await symlink(join(projectRoot, 'node_modules/zod'), join(folder, 'node_modules/zod'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const { name, text } of namedIn(document)) {
    const spelt = Object.entries(here).reduce((replaced, [words, mine]) => {
      return replaced.replaceAll(words, mine);
    }, text);
    await writeFile(join(folder, name), spelt);
  }
  return {
    folder,
    load: (name) => import(join(folder, name)),
    close: () => rm(folder, { recursive: true }),
  };
}

/** Serves the named file below `/examples/` to pages of the site. */
export function offerExample({ answers }: Pick<Site, 'answers'>, document: string, name: string) {
  const found = namedIn(document).find((each) => each.name === name);
  if (found === undefined) throw new Error(`${document} has no ${name}`);
  const code = stripTypeScriptTypes(found.text).replaceAll(
    /'tintype\/(sdk[\w/]*)'/g,
    (_, entry: string) => `'${own.exports[`./${entry}` as keyof typeof own.exports].slice(1)}'`,
  );
  answers.set(`/examples/${name}`, async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(code);
  });
}

function namedIn(document: string) {
  return readFences(document).filter(({ name }) => name.endsWith('.ts'));
}
