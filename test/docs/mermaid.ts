/**
 * What is wrong with a diagram of the documents: each line has to be one of the few forms that they keep to, all of which
 * Mermaid reads. A stricter reader than Mermaid, which has a page of its own way with almost anything.
 */

const ID = '(?!(?:end|graph|subgraph|style|class|click)\\b)[A-Za-z_]\\w*';
// Outside of quotes a bracket ends a text, and a semicolon the line.
const TEXT = '(?:"[^"]*"|[^\\s"()[\\]{}|;<>][^"()[\\]{}|;<>]*)';
const SHAPE = `(?:\\[\\(${TEXT}\\)\\]|\\(\\(${TEXT}\\)\\)|\\[${TEXT}\\]|\\(${TEXT}\\)|\\{${TEXT}\\})`;
const NODE = `${ID}${SHAPE}?`;
const LINK = `(?:-->(?:\\|${TEXT}\\|)?|-- ${TEXT} -->)`;
const CARDINALITY = '(?:\\|\\||\\|o|\\}o|\\}\\||o\\||o\\{|\\|\\{)';

/** By the first line of a diagram, what each of the others is. */
const kinds: readonly (readonly [first: RegExp, line: RegExp])[] = [
  [/^flowchart (?:LR|TD)$/, new RegExp(`^${NODE}(?: ${LINK} ${NODE})*$`)],
  [/^sequenceDiagram$/, new RegExp(`^(?:participant ${ID} as ${TEXT}|${ID}--?>>${ID}: [^;#]+)$`)],
  [/^erDiagram$/, new RegExp(`^${ID} ${CARDINALITY}--${CARDINALITY} ${ID} : "[^"]+"$`)],
];

/** The lines that are none, by their words. */
export function faultsOf(diagram: string): string[] {
  const [first = '', ...lines] = diagram.trimEnd().split('\n');
  const [, form] = kinds.find(([begins]) => begins.test(first)) ?? [];
  if (form === undefined || lines.length === 0) return [first];
  return lines.filter((line) => !form.test(line.trim()));
}
