/** Metrics of installations and of the workers that the operator gives them, for as long as this process leads. */

type Labels = Readonly<Record<string, string>>;
type Gauge = {
  set(labels: Labels, value: number): void;
  remove(labels: Labels): void;
  reset(): void;
};
type NewGauge = (name: string, help: string, labelNames: readonly string[]) => Gauge;

export type InstallationSample = { isReady: boolean; isStalled: boolean; isPaused: boolean };

export type PoolSample = {
  installation: string;
  component: string;
  workers: number;
  /** What its load asks for, regardless of its limits. */
  wanted: number;
  max: number;
};

export function installationMetrics(gauge: NewGauge) {
  const of = ['installation'];
  const ready = gauge(
    'tintype_installation_ready',
    '0 while the condition Ready of an ImageService is False, otherwise 1.',
    of,
  );
  const stalled = gauge(
    'tintype_installation_stalled',
    '1 while an ImageService has the condition Stalled and needs somebody to act, otherwise 0.',
    of,
  );
  const paused = gauge(
    'tintype_installation_paused',
    '1 while the annotation tintype.dev/paused keeps an ImageService unchanged, otherwise 0.',
    of,
  );
  const all = [ready, stalled, paused];
  return {
    recordInstallation: (installation: string, seen: InstallationSample) => {
      ready.set({ installation }, seen.isReady ? 1 : 0);
      stalled.set({ installation }, seen.isStalled ? 1 : 0);
      paused.set({ installation }, seen.isPaused ? 1 : 0);
    },
    /** Another process reports the installation from now on, or nobody does. */
    forgetInstallation: (installation: string) => {
      for (const each of all) each.remove({ installation });
    },
    forgetInstallations: () => {
      for (const each of all) each.reset();
    },
    ...poolMetrics(gauge),
  };
}

function poolMetrics(gauge: NewGauge) {
  const of = ['installation', 'component'];
  const workers = gauge(
    'tintype_scaler_workers',
    'Number of workers that was last set for a pool.',
    of,
  );
  const wanted = gauge(
    'tintype_scaler_wanted_workers',
    'Number of workers that the load of a pool needs, regardless of its limits. Reported by the built-in scaler.',
    of,
  );
  const max = gauge(
    'tintype_scaler_max_workers',
    'Maximum number of workers of a pool. Reported by the built-in scaler.',
    of,
  );
  const looked = gauge(
    'tintype_scaler_last_look_seconds',
    'Unix time when all pools of an installation were last checked; before the first check, of the start.',
    ['installation'],
  );
  return {
    recordPool: ({ installation, component, ...seen }: PoolSample) => {
      const labels = { installation, component };
      workers.set(labels, seen.workers);
      wanted.set(labels, seen.wanted);
      max.set(labels, seen.max);
    },
    recordScalerRun: (installation: string, at: Date) =>
      looked.set({ installation }, at.getTime() / 1000),
    forgetPools: (installation: string, components: readonly string[]) => {
      looked.remove({ installation });
      for (const component of components) {
        for (const each of [workers, wanted, max]) each.remove({ installation, component });
      }
    },
  };
}
