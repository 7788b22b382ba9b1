/**
 * Replaces what is between the markers of a reference page with the section that the marker names.
 */

export type FilledPage = { text: string; used: string[]; unknown: string[] };

/**
 * Markers: `<!-- generated: name -->` … `<!-- /generated -->`. An unknown name leaves the page
 * unchanged there.
 */
export function fillPage(page: string, sections: ReadonlyMap<string, () => string>): FilledPage {
  const used: string[] = [];
  const unknown: string[] = [];
  const text = page.replaceAll(MARKED, (block: string, name: string) => {
    const section = sections.get(name);
    (section === undefined ? unknown : used).push(name);
    return section === undefined
      ? block
      : `<!-- generated: ${name} -->\n${section().trim()}\n<!-- /generated -->`;
  });
  return { text, used, unknown };
}

const MARKED = /<!-- generated: ([^>]+?) -->\n[\s\S]*?<!-- \/generated -->/g;
