/** What is wrong in a folder of YAML, and where: one line for a person who has an editor open. */

export type Fault = { file: string; line: number; path: string; message: string };

/** Something that was passed over on purpose, which is worth a word but is no fault. */
export type Note = { file: string; line: number; message: string };

/** For example `project.yaml:7: spec.state: expected Active or Suspended, got "off"`. */
export function printFault({ file, line, path, message }: Fault): string {
  // What is wrong with a file or a folder as a whole stands on line 0.
  const place = line === 0 ? file : `${file}:${line}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}

export function printNote({ file, line, message }: Note): string {
  return `${file}:${line}: ${message}`;
}

/** A path as people write it: `spec.resolutionPresets[1].chain`. */
export function printPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}
