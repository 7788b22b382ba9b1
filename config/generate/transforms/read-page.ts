/** What docs/transforms.md shows: rows of a URL and its picture, and the watermark presets in its block of JSON. */

export type Example = { path: string; file: string };
export type PresetWish = { name: string; file_slug: string } & Record<string, unknown>;

export function readPage(page: string): { examples: Example[]; presets: PresetWish[] } {
  const rows = page.matchAll(/^\| `(\/[^`]+)` \| !\[[^\]]*\]\((pictures\/[\w.-]+)\) \|$/gm);
  const examples = [...rows].map(([, path = '', file = '']) => ({ path, file }));
  const block = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '[]';
  return { examples, presets: JSON.parse(block) as PresetWish[] };
}
