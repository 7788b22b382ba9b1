/** The documents as the tests of them see them: pages, headings, links, and the citations in the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const projectRoot = new URL('../..', import.meta.url).pathname;

/** Every page for people, by its path from the project's root. */
export function readPages(): Map<string, string> {
  const docs = listFiles('docs').filter((path) => path.endsWith('.md'));
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs];
  return new Map(pages.map((path) => [path, readText(path)]));
}

/** Every Markdown file of the project, also those that pages are made from. */
export function allMarkdown(): Map<string, string> {
  const ours = readdirSync(projectRoot, { withFileTypes: true }).filter(
    ({ name }) => !name.startsWith('.') && name !== 'node_modules',
  );
  const paths = ours.flatMap((entry) => (entry.isDirectory() ? listFiles(entry.name) : entry.name));
  return new Map(
    paths.filter((path) => path.endsWith('.md')).map((path) => [path, readText(path)]),
  );
}

/** Headings of a page without their marks, code spans taken as their words. */
export function headingsOf(page: string): string[] {
  return [...withoutFences(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) =>
    title.replaceAll('`', ''),
  );
}

/** The anchor that a heading gets where the pages are shown. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Targets of the links of a page that lead to no other site. */
export function relativeLinksOf(page: string): string[] {
  const prose = withoutFences(page).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** One `Spec: …` of a comment: names of headings, each with those below it. */
export type Citation = { file: string; names: string[][] };

/** Every citation of the sources below these folders. */
export function readCitations(folders: readonly string[]): Citation[] {
  const files = folders.flatMap(listFiles).filter((path) => /\.(ts|js|sql)$/.test(path));
  return files.flatMap((file) =>
    [
      ...readText(file)
        .replaceAll(CONTINUED, ' ')
        .matchAll(/Spec: ([^\n]+)/g),
    ].map(([, text = '']) => ({ file, names: parseCitation(text) })),
  );
}

/** A comment's line break with what the next line begins with. */
const CONTINUED = /\n\s*(?:\*(?!\/)|\/\/|--)\s?/g;

/**
 * `A, B (words); C 2 and 3, some words. More` cites A with B below it, and C. A name begins with a capital;
 * what does not is a detail of the name before. A full stop, a colon or the end of the comment ends it.
 */
export function parseCitation(text: string): string[][] {
  const cited = text.replaceAll(/\([^()]*\)/g, '').split(/[.:](?:\s|$)|\)|\*\//, 1)[0] ?? '';
  return cited.split(';').map((path) => {
    const [first = '', ...rest] = path.split(',').map((part) => part.trim());
    return [first, ...rest.filter((part) => /^[A-Z]/.test(part))].map(withoutNumbers);
  });
}

/** `Rules 1`, `Output rules 1 to 4` → the heading that counts them. */
function withoutNumbers(name: string): string {
  return name.replace(/ \d+(?:(?: to | and |–)\d+)?$/, '').trim();
}

function withoutFences(page: string): string {
  return page.replaceAll(/^```[\s\S]*?^```/gm, '');
}

function readText(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}

/** From the project's root. */
export function listFiles(folder: string): string[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .sort();
}
