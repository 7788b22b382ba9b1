/**
 * Checks diagrams: each line must have one of the few forms that the documents use. This is stricter than Mermaid,
 * which accepts almost anything and renders some of it unexpectedly.
 */

const ID = '(?!(?:end|graph|subgraph|style|class|click)\\b)[A-Za-z_]\\w*';
// Outside of quotes, a bracket ends a label and a semicolon ends the line.
const TEXT = '(?:"[^"]*"|[^\\s"()[\\]{}|;<>][^"()[\\]{}|;<>]*)';
const SHAPE = `(?:\\[\\(${TEXT}\\)\\]|\\(\\(${TEXT}\\)\\)|\\[${TEXT}\\]|\\(${TEXT}\\)|\\{${TEXT}\\})`;
const NODE = `${ID}${SHAPE}?`;
const LINK = `(?:-->(?:\\|${TEXT}\\|)?|-- ${TEXT} -->)`;
const CARDINALITY = '(?:\\|\\||\\|o|\\}o|\\}\\||o\\||o\\{|\\|\\{)';

/** For each first line of a diagram, the form of its other lines. */
const kinds: readonly (readonly [first: RegExp, line: RegExp])[] = [
  [/^flowchart (?:LR|TD)$/, new RegExp(`^${NODE}(?: ${LINK} ${NODE})*$`)],
  [/^sequenceDiagram$/, new RegExp(`^(?:participant ${ID} as ${TEXT}|${ID}--?>>${ID}: [^;#]+)$`)],
  [/^erDiagram$/, new RegExp(`^${ID} ${CARDINALITY}--${CARDINALITY} ${ID} : "[^"]+"$`)],
];

/** Returns the lines that do not have a known form. */
export function faultsOf(diagram: string): string[] {
  const [first = '', ...lines] = diagram.trimEnd().split('\n');
  const [, form] = kinds.find(([begins]) => begins.test(first)) ?? [];
  if (form === undefined || lines.length === 0) return [first];
  return lines.filter((line) => !form.test(line.trim()));
}
