/** Writes docs/configuration.md from the table in runtime/platform/config-variables.ts. */
import { type Variable, variables } from '../../runtime/platform/config-variables.ts';
import { writeGenerated } from '../write-generated.ts';
import { code, table } from './reference/markdown.ts';

const head = `# Configuration

<!-- Written by \`make generate\` from runtime/platform/config-variables.ts. Do not edit. -->

Environment variables configure Tintype. A wrong value stops the start with the name of the variable,
what was expected and an example. An empty variable counts as unset. For a variable whose name is not in this
table, such as a misspelled one, the process logs a warning at the start. White space around a value is ignored;
around a secret it is refused. Each installation needs random keys and secrets of its own. The examples of those
are commands for a shell: the text of an example, a key of zeros, or a key that this page has ever printed stops
the start. \`tintype up\` sets the variables that it needs; you can override each of them.

`;

const columns = ['variable', 'meaning', 'default', 'example'];
const text = head + table(columns, Object.values<Variable>(variables).map(rowOf));
writeGenerated(new Map([['docs/configuration.md', text]]));

function rowOf({ name, description, default: value, example }: Variable): string[] {
  const shown = value === undefined || value === '' ? '' : code(value);
  return [code(name), description, shown, code(example)];
}
