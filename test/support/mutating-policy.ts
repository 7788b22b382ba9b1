/** A cluster policy that changes objects during admission, no matter who writes them. */
import { onTestFinished } from 'vitest';
import { kubeOk, type PlaneAddress } from './kube-request.ts';

const GROUP = 'admissionregistration.k8s.io/v1';

type Mutation = {
  namespace: string;
  /** The API group and plural name of the objects to change. */
  group: string;
  resources: string;
  /** The JSON pointer of the field, and its new value. */
  path: string;
  value: string | object;
};

/**
 * Creates the policy and returns a function that removes it. Both take effect with a short delay.
 */
export async function mutateOnWayIn(
  plane: PlaneAddress,
  { namespace, group, resources, path, value }: Mutation,
): Promise<() => Promise<void>> {
  const name = `${resources}-of-${namespace}`;
  const made: string[] = [];
  const make = async (plural: string, kind: string, spec: object) => {
    const body = { apiVersion: GROUP, kind, metadata: { name }, spec };
    await kubeOk(plane, { method: 'POST', path: `/apis/${GROUP}/${plural}`, body });
    made.push(`/apis/${GROUP}/${plural}/${name}`);
  };
  const takeBack = async () => {
    for (const each of made.splice(0)) await kubeOk(plane, { method: 'DELETE', path: each });
  };
  onTestFinished(takeBack);
  const expression = `[JSONPatch{op: "add", path: "${path}", value: ${JSON.stringify(value)}}]`;
  const matched = { apiGroups: [group], apiVersions: ['*'], resources: [resources] };
  await make('mutatingadmissionpolicies', 'MutatingAdmissionPolicy', {
    ...{ failurePolicy: 'Fail', reinvocationPolicy: 'Never' },
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      resourceRules: [{ ...matched, operations: ['CREATE', 'UPDATE'] }],
    },
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
  });
  const binding = { policyName: name };
  await make('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', binding);
  return takeBack;
}
