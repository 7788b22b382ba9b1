/** Creates DOM elements in one line each; texts are never parsed as HTML. */

type Attributes = Readonly<Record<string, string | number | null>>;

/** Attributes with the value null are omitted. */
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

/** A button that shows a symbol and has an accessible name. */
export function signButton(sign: string, name: string): HTMLButtonElement {
  const drawn = element('span', { 'aria-hidden': 'true' }, [sign]);
  return element('button', { type: 'button', class: 'sign', 'aria-label': name, title: name }, [
    drawn,
  ]);
}
