/** What is wrong in a folder of YAML, and where: one line for a person who has an editor open. */

export type Fault = { file: string; line: number; path: string; message: string };

/** Something that was passed over on purpose, which is worth a word but is no fault. */
export type Note = { file: string; line: number; message: string };

/** For example `project.yaml:7: spec.state: expected Active or Suspended, got "off"`. */
export function printFault({ file, line, path, message }: Fault): string {
  const place = printPlace({ file, line });
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}

export function printNote({ message, ...place }: Note): string {
  return `${printPlace(place)}: ${message}`;
}

/** What concerns a file or a folder as a whole stands on line 0. */
function printPlace({ file, line }: Pick<Fault, 'file' | 'line'>): string {
  return line === 0 ? file : `${file}:${line}`;
}

/** A path as people write it: `spec.resolutionPresets[1].chain`. */
export function printPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}
