/** Finds variables that look like ours but are not: a misspelt one would be ignored silently. */
import type { Environment } from './config.ts';
import { variables } from './config-variables.ts';
import type { Log } from './log.ts';

const KNOWN: ReadonlySet<string> = new Set(Object.values(variables).map(({ name }) => name));

/**
 * Variables that `tintype env` exports for a shell, that our own tests read, and that Kubernetes
 * sets for a Service `tintype-…`.
 */
const OTHERS =
  /^TINTYPE_(API|PROJECT|KEY|DELIVERY|TEST_.+|SOAK_.+|SEEN_.+|.*_SERVICE_(HOST|PORT).*|.*_TCP(_.+)?)$/;

export function unknownVariables(env: Environment): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith('TINTYPE_') && !KNOWN.has(name) && !OTHERS.test(name),
  );
}

/** Logs a line for each; they do not keep the process from its work. */
export function warnOfUnknownVariables(env: Environment, log: Log): void {
  for (const variable of unknownVariables(env)) {
    log.warn('unknown variable, ignored: see docs/configuration.md', {
      variable,
    });
  }
}
