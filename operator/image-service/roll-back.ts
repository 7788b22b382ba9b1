/**
 * Rolls back a new image whose pods did not become ready in time: every part runs the image with which all were last
 * ready, until something else is declared. The database keeps its schema version, which older images support. While
 * database, broker or buckets are down, unready pods say nothing about the image.
 */
import { type Condition, conditionsOf } from './conditions.ts';
import { judgeDeployment, judgeMigration } from './findings.ts';
import { type Component, components, type Installation } from './installation.ts';
import {
  deploymentOf,
  findingsWith,
  notApplied,
  type ObservedInstallation,
  verdictOf,
} from './judge-parts.ts';
import type { DeploymentState } from './observed.ts';
import {
  PROGRESS_SECONDS,
  REVISION,
  ROLLED_BACK,
  ROLLED_BACK_SPEC,
  ROLLED_BACK_WHY,
} from './render/deployments.ts';
import { digest, type RenderedObject } from './render/object.ts';
import { allObjects, type Rendered, renderInstallation } from './render/render.ts';
import { apply, pruneObjects, type Step } from './steps.ts';

export type RollOut = {
  steps: Step[];
  conditions: Condition[];
  image: string | undefined;
};

/** Undefined if no part failed, or if no earlier image is known. */
export function rollBack(seen: ObservedInstallation): RollOut | undefined {
  const { of, rendered, observed } = seen;
  const { last_image } = observed;
  const failed = failedParts(seen);
  if (failed.size === 0 || last_image === undefined || last_image === of.spec.image) {
    return undefined;
  }
  const before = renderInstallation({ ...of, spec: { ...of.spec, image: last_image } });
  const objects = allObjects(before).filter((object) => object !== before.migration);
  const verdicts = new Map(
    components.map((component) => {
      const why = failed.get(component);
      const back = { reason: 'RolledBack' as const, message: `${why} '${last_image}' runs again.` };
      const judged = verdictOf({ ...seen, rendered: before }, component);
      return [component, why === undefined ? (judged ?? notApplied(before, component)) : back];
    }),
  );
  const migration = judgeMigration(rendered.migration.metadata.name, observed.migration);
  return {
    steps: [
      ...objects.map((object) => apply(marked(object, { of, rendered, failed }))),
      ...pruneObjects([...allObjects(rendered), before.migration], observed),
    ],
    conditions: conditionsOf(findingsWith({ ...seen, rendered: before, migration, verdicts })),
    image: undefined,
  };
}

/** Each failed part with the reason: as observed now, or as recorded at its rollback. */
function failedParts({
  of,
  rendered,
  observed,
  now,
}: ObservedInstallation): Map<Component, string> {
  const { deployments, usable_since } = observed;
  const usable_ms = usable_since === undefined ? 0 : now.getTime() - usable_since.getTime();
  const hadTime = usable_ms >= PROGRESS_SECONDS * 1000;
  const failed = new Map<Component, string>();
  for (const component of components) {
    const state = deployments[component];
    const { name, annotations } = deploymentOf(rendered, component).metadata;
    const wanted = annotations?.[REVISION];
    if (state !== undefined && isRecorded(state, { wanted, spec: of.spec })) {
      failed.set(component, state.rolled_back?.why ?? '');
    } else if (hadTime && state !== undefined && state.revision === wanted) {
      const { reason, message } = judgeDeployment(name, state, { now });
      if (reason === 'RolloutFailed') failed.set(component, message);
    }
  }
  return failed;
}

type Asked = { wanted: string | undefined; spec: Installation['spec'] };

/** Another spec asks for another try, as the cause may have been fixed. */
function isRecorded({ rolled_back }: DeploymentState, { wanted, spec }: Asked): boolean {
  if (rolled_back?.revision !== wanted) return false;
  // Earlier operators did not record the spec.
  return rolled_back?.spec === undefined || rolled_back.spec === digest(spec);
}

type Failed = { of: Installation; rendered: Rendered; failed: ReadonlyMap<Component, string> };

/**
 * Records the rollback on the Deployment, so that the revision is not tried again automatically.
 */
function marked(object: RenderedObject, { of, rendered, failed }: Failed): RenderedObject {
  const component = components.find((each) => object.metadata.name === `${of.name}-${each}`);
  const why = component && failed.get(component);
  if (component === undefined || why === undefined || object.kind !== 'Deployment') return object;
  const revision = deploymentOf(rendered, component).metadata.annotations?.[REVISION] ?? '';
  const annotations = {
    ...object.metadata.annotations,
    [ROLLED_BACK]: revision,
    [ROLLED_BACK_WHY]: why,
    [ROLLED_BACK_SPEC]: digest(of.spec),
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
