/** A page of the reference with what stands between its markers replaced by the section that they name. */

export type FilledPage = { text: string; used: string[]; unknown: string[] };

/** `<!-- generated: name -->` … `<!-- /generated -->`; a name that no section has leaves the page as it is. */
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
