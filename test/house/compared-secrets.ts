/**
 * Finds comparisons of secrets whose time depends on where two texts differ: operators, `switch`, and methods that
 * compare. A secret is a value that is named like one, or that the same file makes from one.
 */
import { parseAst } from 'rolldown/parseAst';
import { isNode, type Node, nameOf, nodesOf } from './ast.ts';

const NAME = /(?:^|[a-z0-9_])(?:sig|h?mac|signature|secret|api_?key|token|password)s?$/i;
/** Functions that make what a secret is compared with. */
const MAKER = /^(?:sign[A-Z]|hmac$|hashApiKey$|deriveKey$)/;
const OPERATORS = ['===', '!==', '==', '!=', '<', '>', '<=', '>='];
const COMPARING =
  /^(?:equals|compare|localeCompare|is|includes|indexOf|lastIndexOf|startsWith|endsWith)$/;
/** Properties of a secret that are the secret itself. */
const SAME = /^(?:value|text|bytes|buffer)$/;

/** The beginning of the source text of each comparison of a secret. */
export function comparedSecrets(source: string): string[] {
  const nodes = [...walk(parseAst(source, { lang: 'ts' }))];
  const names = secretNames(nodes);
  return nodes
    .filter((node) => comparedBy(node).some((value) => isSecret(value, names)))
    .map(({ start, end }) => source.slice(start, end).split('\n', 1)[0] ?? '');
}

/** What a node compares; nothing when it compares with a constant of the source. */
function comparedBy(node: Node): unknown[] {
  const { left, right, operator, discriminant, cases, callee } = node;
  if (node.type === 'BinaryExpression' && OPERATORS.includes(String(operator)))
    return isConstant(left) || isConstant(right) ? [] : [left, right];
  if (node.type === 'SwitchStatement') {
    const tests = nodesOf(cases).map(({ test }) => test);
    return tests.every(isConstant) ? [] : [discriminant, ...tests];
  }
  const method = node.type === 'CallExpression' ? bare(callee) : undefined;
  if (!COMPARING.test(nameOf(method?.['property']))) return [];
  const given = nodesOf(node['arguments']);
  return given.every(isConstant) ? [] : [method?.['object'], ...given];
}

/** Names of a file that hold secrets under another name. */
function secretNames(nodes: readonly Node[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (let before = -1; before < names.size; ) {
    before = names.size;
    for (const node of nodes) {
      const { id, init, key, value, left, right } = node;
      if (node.type === 'VariableDeclarator' && isSecret(init, names)) names.add(nameOf(id));
      if (node.type === 'AssignmentExpression' && isSecret(right, names)) names.add(nameOf(left));
      if (node.type === 'Property' && NAME.test(nameOf(key))) names.add(nameOf(value));
    }
    names.delete('');
  }
  return names;
}

function isSecret(value: unknown, names: ReadonlySet<string>): boolean {
  const node = bare(value);
  if (node === undefined) return false;
  const has = (...parts: unknown[]) => parts.some((part) => isSecret(part, names));
  const name = nameOf(node);
  switch (node.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return NAME.test(name) || names.has(name);
    case 'MemberExpression': {
      const property = nameOf(node['property']);
      return NAME.test(property) || (SAME.test(property) && has(node['object']));
    }
    case 'LogicalExpression':
    case 'BinaryExpression':
      return has(
        ...(/^[<>=!i]/.test(String(node['operator'])) ? [] : [node['left'], node['right']]),
      );
    case 'ConditionalExpression':
      return has(node['consequent'], node['alternate']);
    case 'TemplateLiteral':
      return has(...nodesOf(node['expressions']));
    case 'CallExpression':
      return (
        MAKER.test(nameOf(node['callee'])) || has(receiverOf(node['callee']), ...converted(node))
      );
    default:
      return false;
  }
}

/** `secret.trim()` and `secret.toString('hex')` are secrets; `secret.equals(x)` is not. */
function receiverOf(callee: unknown): unknown {
  const member = bare(callee);
  const isKept = /^(?:to[A-Z]\w*|trim|slice|subarray|normalize|replaceAll|at)$/;
  return isKept.test(nameOf(member?.['property'])) ? member?.['object'] : undefined;
}

/** The arguments of `String(secret)` and `Buffer.from(secret)`. */
function converted(call: Node): Node[] {
  const callee = bare(call['callee']);
  const names = [callee, callee?.['object'], callee?.['property']].map(nameOf);
  const isSame = /^(?:String|sha256|Buffer\.from|Buffer\.concat)$/;
  return isSame.test(names.filter(Boolean).join('.')) ? nodesOf(call['arguments']) : [];
}

/** A value without what leaves it as it is: parentheses, casts, `!`, `?.`, `await`. */
function bare(value: unknown): Node | undefined {
  if (!isNode(value)) return undefined;
  const inner =
    value['expression'] ?? (value.type === 'AwaitExpression' ? value['argument'] : undefined);
  return isNode(inner) && value.type !== 'ArrowFunctionExpression' ? bare(inner) : value;
}

/** A literal, or a name in capitals: a constant of the file. */
function isConstant(value: unknown): boolean {
  const node = bare(value);
  if (node === undefined) return true;
  return (
    node.type === 'Literal' ||
    /^(?:undefined|[A-Z][A-Z0-9_]+)$/.test(nameOf(node)) ||
    (node.type === 'TemplateLiteral' && nodesOf(node['expressions']).every(isConstant)) ||
    (node.type === 'UnaryExpression' && isConstant(node['argument']))
  );
}

function* walk(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const each of value) yield* walk(each);
  if (!isNode(value)) return;
  yield value;
  for (const field of Object.values(value)) yield* walk(field);
}
