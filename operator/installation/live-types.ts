/** The types of the objects that make up an ImageService, as in the API server. Spec: Project. */
import { MANAGED } from '../image-service/render/object.ts';
import { API_VERSION } from '../kinds.ts';
import type { LiveCondition } from '../kube/live-condition.ts';
import { type KubeObject, type ResourceType, resourceType } from '../kube/resource.ts';

export type ImageServiceObject = KubeObject & { spec?: unknown; status?: ImageServiceStatus };

type Said = {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
};

export type ImageServiceStatus = {
  observedGeneration?: number;
  image?: string;
  migrationJob?: string;
  databaseID?: string;
  components?: object[];
  conditions?: LiveCondition<Said>[];
};

export const imageServices = resourceType<ImageServiceObject>({
  apiVersion: API_VERSION,
  kind: 'ImageService',
  plural: 'imageservices',
});

function namespaced(apiVersion: string, kind: string, plural: string): ResourceType {
  return resourceType({ apiVersion, kind, plural });
}

export const deployments = namespaced('apps/v1', 'Deployment', 'deployments');
export const jobs = namespaced('batch/v1', 'Job', 'jobs');
export const cronJobs = namespaced('batch/v1', 'CronJob', 'cronjobs');
export const pods = namespaced('v1', 'Pod', 'pods');
/** Every cluster has them. */
const builtInTypes: readonly ResourceType[] = [
  namespaced('v1', 'ServiceAccount', 'serviceaccounts'),
  namespaced('v1', 'Service', 'services'),
  deployments,
  jobs,
  cronJobs,
  namespaced('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  namespaced('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  namespaced('networking.k8s.io/v1', 'Ingress', 'ingresses'),
];

const optionalTypes: readonly ResourceType[] = [
  namespaced('keda.sh/v1alpha1', 'ScaledObject', 'scaledobjects'),
  namespaced('keda.sh/v1alpha1', 'TriggerAuthentication', 'triggerauthentications'),
  namespaced('gateway.networking.k8s.io/v1', 'HTTPRoute', 'httproutes'),
].map((type) => ({ ...type, presence: 'optional' }));

export const ownedTypes: readonly ResourceType[] = [...builtInTypes, ...optionalTypes];

export function typeOf({ kind }: { kind: string }): ResourceType {
  const type = ownedTypes.find((each) => each.kind === kind);
  if (type === undefined) throw new Error(`no installation has a ${kind}`);
  return type;
}

export const INSTANCE = 'app.kubernetes.io/instance';

/**
 * Selects the objects and pods of an installation; without a name, those of all installations, but
 * not the routes of projects, which may be many.
 */
export function ownedLabels(name?: string): string {
  const labels = Object.entries({ 'app.kubernetes.io/name': 'tintype', ...MANAGED });
  const pairs = labels.map(([label, value]) => `${label}=${value}`);
  return [...pairs, name === undefined ? INSTANCE : `${INSTANCE}=${name}`].join();
}
