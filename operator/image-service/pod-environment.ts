/** The environment of a pod with the values of its Secrets, and whether its process would begin with it. */
import { ConfigError, parseConfig } from '../../runtime/platform/config.ts';
import type { Process } from './installation.ts';
import { environmentOf } from './render/environment.ts';
import type { ImageServiceSpec } from './schema.ts';
import type { FoundSecrets, SecretProblem } from './secrets.ts';

/** What a pod of the installation would be told. */
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

/** Together they are told of everything that a value could contradict. */
const judges: readonly Process[] = ['api', 'dispatcher'];

/** What is wrong with values that are right each for itself: one bucket for both, one secret for two callers. */
export function examineTogether(spec: ImageServiceSpec, found: FoundSecrets): SecretProblem[] {
  const faults = judges.flatMap((process) => faultsOf(podEnvironment(process, spec, found)));
  return [...new Set(faults)].map((fault) => ({
    reason: 'SecretInvalid',
    message: `No process takes what Secrets and fields say together: ${fault}.`,
  }));
}

/** They name variables, and never a value. */
function faultsOf(env: PodEnvironment): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
