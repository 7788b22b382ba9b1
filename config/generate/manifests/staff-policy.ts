/**
 * Only users with the verb `manage-staff-fields` may set, change or remove `spec.staff` of a Project. The API server
 * asks its own authorizer, so there is no webhook of ours that could be down.
 */
import { GROUP } from '../../../operator/kinds.ts';
import type { Manifest } from './manifest.ts';
import { STAFF_VERB } from './people.ts';
import { labels, type Place } from './place.ts';

const when = '.Values.admissionPolicy.enabled';

export const staffPolicyManifests: readonly Manifest[] = [
  { folder: 'admission-policy', file: 'staff-fields', when, make: policy },
  { folder: 'admission-policy', file: 'staff-fields-binding', when, make: binding },
];

function nameOf({ fullname }: Place): string {
  return `${fullname}-staff-fields.${GROUP}`;
}

const isStaff = `authorizer.group('${GROUP}').resource('projects').namespace(request.namespace).name(request.name).check('${STAFF_VERB}').allowed()`;

/**
 * `kubectl apply` removes what was in the last applied file, whoever applied it, and is not in this
 * one; `kubectl replace` removes everything that the file leaves out.
 */
const AS_IT_WAS =
  'If you applied a file without it, the last `kubectl apply` was of a file with it: run `kubectl apply set-last-applied --filename` with your file, and apply it again. If you replaced the resource (`kubectl replace`), that removes what your file leaves out: apply the file instead';

function policy(place: Place): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: nameOf(place), labels: labels(place) },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [GROUP],
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['projects'],
          },
        ],
      },
      variables: [
        {
          name: 'changed',
          expression:
            'oldObject == null ? has(object.spec.staff) : object.spec.?staff != oldObject.spec.?staff',
        },
      ],
      validations: [
        {
          expression: `!variables.changed || ${isStaff}`,
          reason: 'Forbidden',
          messageExpression: `"\`spec.staff\` must " + (oldObject == null ? "not be set" : "be left as it is") + ": user '" + request.userInfo.username + "' has no verb '${STAFF_VERB}' on projects.${GROUP} in namespace '" + request.namespace + "'; a member of staff may set it." + (oldObject == null ? "" : " ${AS_IT_WAS}")`,
          message: `\`spec.staff\` may be changed only by users with the verb '${STAFF_VERB}' on projects.${GROUP}. ${AS_IT_WAS}`,
        },
      ],
    },
  };
}

function binding(place: Place): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: nameOf(place), labels: labels(place) },
    spec: { policyName: nameOf(place), validationActions: ['Deny'] },
  };
}
