/**
 * Whether an installation's broker and buckets are usable, tried with the settings of its pods before any pod exists.
 * The results are cached for a while. Spec: Upload session (POST).
 */
import type { Verdict } from '../image-service/observed.ts';
import { type PodEnvironment, podEnvironment } from '../image-service/pod-environment.ts';
import type { ImageServiceSpec } from '../image-service/schema.ts';
import type { FoundSecrets } from '../image-service/secrets.ts';
import type { TimedClock } from '../kube/timed-clock.ts';
import { probeBroker } from './probe-broker.ts';
import { probeStorage } from './probe-storage.ts';

export type ProbeDependencies = (
  spec: ImageServiceSpec,
  found: FoundSecrets,
) => Promise<{ broker: Verdict; storage: Verdict }>;

const RETRY_MS = { good: 60_000, bad: 10_000 };

export function createProbeDependencies(clock: TimedClock): ProbeDependencies {
  const broker = cached(clock, probeBroker);
  const storage = cached(clock, probeStorage);
  return async (spec, found) => {
    // A worker's environment, as it has both.
    const env = podEnvironment('worker-ingest', spec, found);
    const [brokerVerdict, storageVerdict] = await Promise.all([
      broker(spec, env),
      storage(spec, env),
    ]);
    return { broker: brokerVerdict, storage: storageVerdict };
  };
}

type Probe = (spec: ImageServiceSpec, env: PodEnvironment) => Promise<Verdict>;

function cached(clock: TimedClock, probe: Probe): Probe {
  const known = new Map<string, { verdict: Verdict; until: number }>();
  return async (spec, env) => {
    const key = JSON.stringify(env);
    const entry = known.get(key);
    if (entry !== undefined && entry.until > clock.elapsed()) return entry.verdict;
    const verdict = await probe(spec, env);
    const kind = /Unusable$/.test(verdict.reason) ? 'bad' : 'good';
    for (const [each, { until }] of known) if (until <= clock.elapsed()) known.delete(each);
    known.set(key, { verdict, until: clock.elapsed() + RETRY_MS[kind] });
    return verdict;
  };
}
