/** The environment of a pod with the values of its Secrets, and whether its process would start with it. */
import { ConfigError, parseConfig } from '../../runtime/platform/config.ts';
import type { Process } from './installation.ts';
import { environmentOf } from './render/environment.ts';
import type { ImageServiceSpec } from './schema.ts';
import type { FoundSecrets, SecretProblem } from './secrets.ts';

/** The variables that a pod of the installation would receive. */
export type PodEnvironment = Readonly<Record<string, string>>;

export function podEnvironment(
  process: Process,
  spec: ImageServiceSpec,
  found: FoundSecrets,
): PodEnvironment {
  const entries = environmentOf(process, spec).flatMap(({ name, value, valueFrom }) => {
    const { name: secret = '', key = '' } = valueFrom?.secretKeyRef ?? {};
    const text = value ?? found[secret]?.[key];
    return text === undefined ? [] : [[name, text]];
  });
  return Object.fromEntries(entries);
}

/** Together these receive every variable that another could contradict. */
const judges: readonly Process[] = ['api', 'dispatcher'];

/**
 * Contradictions between values that are each valid: one bucket for both purposes, one secret for
 * two callers.
 */
export function validateEnvironment(spec: ImageServiceSpec, found: FoundSecrets): SecretProblem[] {
  const faults = judges.flatMap((process) => faultsOf(podEnvironment(process, spec, found)));
  return [...new Set(faults)].map((fault) => ({
    reason: 'SecretInvalid',
    message: `No process accepts what Secrets and fields say together: ${fault}.`,
  }));
}

/** The messages name variables, never a value. */
function faultsOf(env: PodEnvironment): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
