/**
 * The contents of docs/transforms.md: rows of a URL and its picture, the watermark presets in its JSON block, and YAML
 * blocks, each of which declares the project for the rows after it.
 */

export type Example = { path: string; file: string };
export type PresetWish = { name: string; file_slug: string } & Record<string, unknown>;
/** `declared`: the folder's YAML; undefined: the project as it is by default. */
export type Part = { declared: string | undefined; examples: Example[] };
export type Page = { parts: Part[]; presets: PresetWish[] };

const YAML_BLOCK = /```yaml\n([\s\S]*?)```/;

export function readPage(page: string): Page {
  const [before = '', ...rest] = page.split(YAML_BLOCK);
  const parts = [{ declared: undefined, examples: readExamples(before) }];
  const block = /```json\n([\s\S]*?)```/.exec(before)?.[1] ?? '[]';
  return { parts: [...parts, ...readDeclared(rest)], presets: JSON.parse(block) as PresetWish[] };
}

/** Alternates: a block, then the text after it. */
function readDeclared([declared, text = '', ...rest]: readonly string[]): Part[] {
  if (declared === undefined) return [];
  return [{ declared, examples: readExamples(text) }, ...readDeclared(rest)];
}

function readExamples(text: string): Example[] {
  const rows = text.matchAll(/^\| `(\/[^`]+)` \| !\[[^\]]*\]\((pictures\/[\w.-]+)\) \|$/gm);
  return [...rows].map(([, path = '', file = '']) => ({ path, file }));
}
