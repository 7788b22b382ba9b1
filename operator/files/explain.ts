/**
 * Turns zod's issues into what a person needs: the file, the line, the path, what was expected and what is there
 * instead.
 */
import type { z } from 'zod';
import { cutText } from '../../runtime/core/cut-text.ts';
import { type Fault, printPath } from './fault.ts';
import type { RawDocument } from './read-documents.ts';

const SHOWN_CHARACTERS_MAX = 60;

/** One fault per path, in the order of the file. */
export function explain(error: z.ZodError, document: RawDocument): Fault[] {
  const faults = error.issues.flatMap((issue) => explainIssue(issue, document));
  const first = new Map<string, Fault>();
  for (const fault of faults) if (!first.has(fault.path)) first.set(fault.path, fault);
  return [...first.values()].sort((a, b) => a.line - b.line);
}

function explainIssue(issue: z.core.$ZodIssue, document: RawDocument): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      faultAt([...issue.path, key], document, `unknown field, expected ${issue.message}`),
    );
  }
  const value = valueAt(document.value, issue.path);
  const message =
    value === undefined
      ? `missing, expected ${issue.message}`
      : `expected ${issue.message}, got ${show(value)}`;
  return [faultAt(issue.path, document, message)];
}

function faultAt(path: readonly PropertyKey[], document: RawDocument, message: string): Fault {
  return { file: document.file, line: document.lineOf(path), path: printPath(path), message };
}

/** The value at a path; undefined if the path does not exist. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined,
    root,
  );
}

/** The value as in the file, shortened. */
export function show(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return `{ ${Object.keys(value).join(', ')} }`;
  const text = JSON.stringify(value);
  const cut = cutText(text, SHOWN_CHARACTERS_MAX);
  return cut.length < text.length ? `${cut}…` : text;
}
