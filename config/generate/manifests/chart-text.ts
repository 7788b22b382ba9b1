/**
 * Kubernetes objects as text: plain YAML for kustomize, and YAML with Helm expressions for the chart. An expression
 * travels through the object as a marked string, so that one object is the source of both.
 */
import { stringify } from 'yaml';

/** A value that Helm computes: `code` goes between the braces unchanged. */
export function expression(code: string): string {
  return `${OPEN}${code}${CLOSE}`;
}

/** A map or list that Helm copies from the values unchanged. */
export function block(code: string): string {
  return `${OPEN}${BLOCK}${code}${CLOSE}`;
}

/** The last item of a list: stands for further items, which Helm takes from the values. */
export function further(code: string): string {
  return `${OPEN}${FURTHER}${code}${CLOSE}`;
}

export function printYaml(object: unknown): string {
  return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
}

export function printTemplate(object: unknown): string {
  const text = printYaml(object).replaceAll('{{', '{{ "{{" }}');
  return text.split('\n').map(fillLine).join('\n');
}

const OPEN = '⟦';
const CLOSE = '⟧';
const BLOCK = 'block ';
const FURTHER = 'further ';

function fillLine(line: string): string {
  const unquoted = line.replace(/(["'])(⟦[^⟧]*⟧)\1$/, '$2');
  return unquoted
    .replace(/^ *- ⟦further ([^⟧]*)⟧$/, (_, code) => {
      return `${' '.repeat(indentOf(line))}{{- with ${code} }}{{- toYaml . | nindent ${indentOf(line)} }}{{- end }}`;
    })
    .replace(/ ⟦block ([^⟧]*)⟧$/, (_, code) => {
      return ` {{- toYaml ${code} | nindent ${indentOf(line) + 2} }}`;
    })
    .replaceAll(/⟦([^⟧]*)⟧/g, '{{ $1 }}');
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
