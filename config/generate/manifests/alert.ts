/** One alert, and the runbook page for it. */

export type Alert = {
  name: string;
  expr: string;
  for: string;
  /** critical: users notice it now; warning: they will if nobody acts. */
  severity: 'critical' | 'warning';
  summary: string;
  description: string;
};

/** Stands in an expression for the namespace that the operator is installed in. */
export const OPERATOR_NAMESPACE = '<namespace of the operator>';

/** For example, TintypeApiErrors: api-errors. */
export function runbookPage(name: string): string {
  return name
    .replace(/^Tintype/, '')
    .replaceAll(/(?<=.)([A-Z])/g, '-$1')
    .toLowerCase();
}
