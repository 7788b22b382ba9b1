/** Elements of the page, made in one line each; texts are only ever text. */

type Attributes = Readonly<Record<string, string | number | null>>;

/** An attribute of null is left out. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  children: readonly (Node | string)[] = [],
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/** A button with a sign instead of a word, which has a name all the same. */
export function signButton(sign: string, name: string): HTMLButtonElement {
  const drawn = element('span', { 'aria-hidden': 'true' }, [sign]);
  return element('button', { type: 'button', class: 'sign', 'aria-label': name, title: name }, [
    drawn,
  ]);
}

/** The attribute is there, or it is not. */
export function mark(target: Element, name: string, state: 'on' | 'off'): void {
  if (state === 'on') target.setAttribute(name, '');
  else target.removeAttribute(name);
}
