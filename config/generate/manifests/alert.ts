/** One alert, and where its page of the runbook is. */

export type Alert = {
  name: string;
  expr: string;
  for: string;
  /** critical: users notice it now; warning: they will, if nobody looks. */
  severity: 'critical' | 'warning';
  summary: string;
  description: string;
};

/** In an expression: the namespace that the operator is installed in. */
export const OPERATOR_NAMESPACE = '<namespace of the operator>';

/** TintypeApiErrors: api-errors. */
export function runbookPage(name: string): string {
  return name
    .replace(/^Tintype/, '')
    .replaceAll(/(?<=.)([A-Z])/g, '-$1')
    .toLowerCase();
}
