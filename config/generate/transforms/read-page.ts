/**
 * What docs/transforms.md shows: rows of a URL and its picture, the watermark presets in its block of JSON, and blocks
 * of YAML, each of which declares the project for the rows that follow it.
 */

export type Example = { path: string; file: string };
export type PresetWish = { name: string; file_slug: string } & Record<string, unknown>;
/** `declared`: a folder's YAML; without one the project is as it comes. */
export type Part = { declared: string | undefined; examples: Example[] };
export type Page = { parts: Part[]; presets: PresetWish[] };

const YAML_BLOCK = /```yaml\n([\s\S]*?)```/;

export function readPage(page: string): Page {
  const [before = '', ...rest] = page.split(YAML_BLOCK);
  const parts = [{ declared: undefined, examples: readExamples(before) }];
  const block = /```json\n([\s\S]*?)```/.exec(before)?.[1] ?? '[]';
  return { parts: [...parts, ...readDeclared(rest)], presets: JSON.parse(block) as PresetWish[] };
}

/** Blocks and what follows each, in turn. */
function readDeclared([declared, text = '', ...rest]: readonly string[]): Part[] {
  if (declared === undefined) return [];
  return [{ declared, examples: readExamples(text) }, ...readDeclared(rest)];
}

function readExamples(text: string): Example[] {
  const rows = text.matchAll(/^\| `(\/[^`]+)` \| !\[[^\]]*\]\((pictures\/[\w.-]+)\) \|$/gm);
  return [...rows].map(([, path = '', file = '']) => ({ path, file }));
}
