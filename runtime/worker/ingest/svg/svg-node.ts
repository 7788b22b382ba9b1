/** The tree of a sanitized SVG: what was allowed, and how it is printed. */
import { escapeXmlAttribute, escapeXmlText } from '../escape-xml.ts';
import type { StyleRule } from './style.ts';

export type SvgNode = {
  readonly name: string;
  readonly attributes: Map<string, string>;
  readonly children: (SvgNode | string)[];
  /** The parsed rules of a style sheet. */
  rules?: readonly StyleRule[];
};

/** Each tree has one text, and parsing it gives the same tree again. */
export function printSvg(root: SvgNode): string {
  const parts: string[] = [];
  print(root, parts);
  return parts.join('');
}

export function childElements({ children }: SvgNode): SvgNode[] {
  return children.filter((child) => typeof child !== 'string');
}

/** The texts directly within an element. */
export function textsOf({ children }: SvgNode): string[] {
  return children.filter((child) => typeof child === 'string');
}

/** Whether text other than white space is directly within an element. */
export function holdsText({ children }: SvgNode): boolean {
  return children.some((child) => typeof child === 'string' && /\S/.test(child));
}

/** Every element of a tree, in document order. */
export function allElements(root: SvgNode): SvgNode[] {
  const found: SvgNode[] = [];
  collect(root, found);
  return found;
}

function collect(node: SvgNode, found: SvgNode[]): void {
  found.push(node);
  for (const child of node.children) if (typeof child !== 'string') collect(child, found);
}

function print({ name, attributes, children }: SvgNode, parts: string[]): void {
  parts.push('<', name);
  for (const [attribute, value] of attributes) {
    parts.push(' ', attribute, '="', escapeXmlAttribute(value), '"');
  }
  if (children.length === 0) {
    parts.push('/>');
    return;
  }
  parts.push('>');
  for (const child of children) {
    if (typeof child === 'string') parts.push(escapeXmlText(child));
    else print(child, parts);
  }
  parts.push('</', name, '>');
}
