/** Spreads the pods of a part over nodes and zones. */
import type { Installation, Process } from '../installation.ts';
import { selectorOf } from './object.ts';

const AREAS = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'];

export function topologySpread(of: Installation, process: Process): object[] | undefined {
  const mode = of.spec.topologySpread ?? 'Preferred';
  if (mode === 'Disabled' || process === 'migrate' || process === 'job') return undefined;
  return AREAS.map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: mode === 'Required' ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector: { matchLabels: selectorOf(of, process) },
    // Pods of the previous version do not count, so that a new version is spread too.
    matchLabelKeys: ['pod-template-hash'],
  }));
}
