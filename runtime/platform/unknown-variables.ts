/** Variables that look like ours and are not: a misspelt one would be ignored without a word. */
import type { Environment } from './config.ts';
import { variables } from './config-variables.ts';
import type { Log } from './log.ts';

const KNOWN: ReadonlySet<string> = new Set(Object.values(variables).map(({ name }) => name));

/** What `tintype env` exports for a shell, what our own tests read, and what Kubernetes says of a Service `tintype-…`. */
const OTHERS =
  /^TINTYPE_(API|PROJECT|KEY|DELIVERY|TEST_.+|SOAK_.+|SEEN_.+|.*_SERVICE_(HOST|PORT).*|.*_TCP(_.+)?)$/;

export function unknownVariables(env: Environment): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith('TINTYPE_') && !KNOWN.has(name) && !OTHERS.test(name),
  );
}

/** A line for each, which does not keep the process from its work. */
export function warnOfUnknownVariables(env: Environment, log: Log): void {
  for (const variable of unknownVariables(env)) {
    log.warn('a variable is none of ours and says nothing: see docs/configuration.md', {
      variable,
    });
  }
}
