/** What is wrong in a folder of YAML, and where: one line for a person with an open editor. */

export type Fault = { file: string; line: number; path: string; message: string };

/** Something ignored on purpose: worth mentioning, but no fault. */
export type Note = { file: string; line: number; message: string };

/**
 * For example `project.yaml:7: spec.state: expected Active or Suspended, got "off"`. Line 0 stands
 * for a whole file or folder.
 */
export function printFault({ file, line, path, message }: Fault): string {
  const place = line === 0 ? file : `${file}:${line}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}

/** A path as people write it: `spec.resolutionPresets[1].chain`. */
export function printPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}
