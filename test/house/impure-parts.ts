/** Finds what makes a module depend on more than its arguments: clock, randomness, network, environment, output. */
import { parseAst } from 'rolldown/parseAst';
import { isNode, type Node, nameOf, nodesOf } from './ast.ts';

const GLOBALS: ReadonlySet<string> = new Set([
  ...['globalThis', 'global', 'process', 'console', 'performance', 'crypto', 'require'],
  ...['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'navigator', 'localStorage'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Worker', 'eval'],
]);

/** The names of the impure parts of a module, once each. */
export function impureParts(source: string): string[] {
  const found = [...walk(parseAst(source, { lang: 'ts' }), [])];
  return [...new Set(found.flatMap(partsOf))];
}

type Found = { node: Node; parent: Node | undefined; field: string };

function partsOf({ node, parent, field }: Found): string[] {
  switch (node.type) {
    case 'ImportExpression':
      return ['import()'];
    case 'MetaProperty':
      return nameOf(node['meta']) === 'import' ? ['import.meta'] : [];
    case 'ImportDeclaration':
      return isOf(node['source'], 'node:crypto') ? randomImports(node) : [];
    case 'Identifier':
      return isName(parent, field) ? [] : impureGlobal(nameOf(node), parent);
    default:
      return [];
  }
}

/** Whether an identifier only names a property or a declared thing, and reads no variable. */
function isName(parent: Node | undefined, field: string): boolean {
  const isProperty = field === 'property' || (field === 'key' && parent?.['shorthand'] !== true);
  if (isProperty) return parent?.['computed'] !== true;
  return field === 'imported' || /^TS/.test(parent?.type ?? '');
}

function impureGlobal(name: string, parent: Node | undefined): string[] {
  if (GLOBALS.has(name)) return [name];
  if (name === 'Date') return impureDate(parent);
  if (name !== 'Math') return [];
  const member = parent?.type === 'MemberExpression' ? nameOf(parent['property']) : '';
  if (member === '') return ['Math'];
  return member === 'random' ? ['Math.random'] : [];
}

function impureDate(parent: Node | undefined): string[] {
  const isBare = nodesOf(parent?.['arguments']).length === 0;
  if (parent?.type === 'NewExpression') return isBare ? ['new Date()'] : [];
  if (parent?.type === 'CallExpression') return ['Date()'];
  if (parent?.type === 'BinaryExpression') return [];
  const isPure = ['UTC', 'parse', 'prototype'].includes(nameOf(parent?.['property']));
  return isPure ? [] : ['Date.now()'];
}

function randomImports(declaration: Node): string[] {
  return nodesOf(declaration['specifiers']).flatMap((specifier) => {
    const name = nameOf(specifier['imported']);
    if (name === '') return ['node:crypto'];
    return /^(?:random|generate|webcrypto)/.test(name) ? [name] : [];
  });
}

function* walk(value: unknown, path: readonly [Node, string] | readonly []): Generator<Found> {
  if (Array.isArray(value)) for (const each of value) yield* walk(each, path);
  if (!isNode(value)) return;
  const [parent, field = ''] = path;
  yield { node: value, parent, field };
  for (const [name, child] of Object.entries(value)) yield* walk(child, [value, name]);
}

function isOf(value: unknown, text: string): boolean {
  return isNode(value) && value['value'] === text;
}
