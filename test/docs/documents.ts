/** Reads the documents for tests: pages, headings, links, and the citations in code comments. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const projectRoot = new URL('../..', import.meta.url).pathname;

/** Returns every page for people by its path from the project root. */
export function readPages(): Map<string, string> {
  const docs = listFiles('docs').filter((path) => path.endsWith('.md'));
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs];
  return new Map(pages.map((path) => [path, readText(path)]));
}

/**
 * Returns every Markdown file of the project, including those from which pages are generated, without what git ignores:
 * who tries the product leaves files in the clone.
 */
export function allMarkdown(): Map<string, string> {
  const words = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'];
  const listed = execFileSync('git', words, { cwd: projectRoot, encoding: 'utf8' });
  const isThere = (path: string) => existsSync(join(projectRoot, path));
  const ours = listed.trimEnd().split('\n').filter(isThere);
  return new Map(ours.map((path) => [path, readText(path)]));
}

/** Returns the headings of a page as plain text. */
export function headingsOf(page: string): string[] {
  return [...withoutFences(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) =>
    title.replaceAll('`', ''),
  );
}

/** Returns the anchor of a heading on the rendered page. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns the link targets of a page that do not lead to other sites. */
export function relativeLinksOf(page: string): string[] {
  const prose = withoutFences(page).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** One `Spec: …` of a comment: names of headings, each followed by the headings below it. */
export type Citation = { file: string; names: string[][] };

/** Returns every citation in the source files of these folders. */
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

/** A line break within a comment, with the comment marker of the next line. */
const CONTINUED = /\n\s*(?:\*(?!\/)|\/\/|--)\s?/g;

/**
 * `A, B (words); C 2 and 3, some words. More` cites A with B below it, and C. A name begins with a
 * capital; other words are details of the name before. A period, a colon or the end of the comment
 * ends the citation.
 */
export function parseCitation(text: string): string[][] {
  const cited = text.replaceAll(/\([^()]*\)/g, '').split(/[.:](?:\s|$)|\)|\*\//, 1)[0] ?? '';
  return cited.split(';').map((path) => {
    const [first = '', ...rest] = path.split(',').map((part) => part.trim());
    return [first, ...rest.filter((part) => /^[A-Z]/.test(part))].map(withoutNumbers);
  });
}

/** Removes rule numbers: `Output rules 1 to 4` cites the heading `Output rules`. */
function withoutNumbers(name: string): string {
  return name.replace(/ \d+(?:(?: to | and |–)\d+)?$/, '').trim();
}

function withoutFences(page: string): string {
  return page.replaceAll(/^```[\s\S]*?^```/gm, '');
}

function readText(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}

/** Returns paths from the project root. */
export function listFiles(folder: string): string[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .sort();
}
