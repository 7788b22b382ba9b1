/** The head of every object of an installation: name, labels, and ownership by the ImageService. */
import { createHash } from 'node:crypto';
import { API_VERSION } from '../../kinds.ts';
import type { OwnerReference } from '../../kube/resource.ts';
import type { Installation, Process } from '../installation.ts';

export type RenderedObject = {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace: string;
    labels: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
    ownerReferences: OwnerReference[];
  };
  [field: string]: unknown;
};

type Head = {
  apiVersion: string;
  kind: string;
  /** Follows the installation's name. */
  suffix: string;
  component?: Process;
  annotations?: Readonly<Record<string, string>>;
};

export function renderObject(of: Installation, head: Head, body: object): RenderedObject {
  const { apiVersion, kind, suffix, component, annotations = {} } = head;
  return {
    apiVersion,
    kind,
    metadata: {
      name: `${of.name}-${suffix}`,
      namespace: of.namespace,
      labels: component === undefined ? sharedLabels(of) : selectorOf(of, component, MANAGED),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [
        {
          apiVersion: API_VERSION,
          kind: 'ImageService',
          name: of.name,
          uid: of.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    ...body,
  };
}

export const MANAGED = { 'app.kubernetes.io/managed-by': 'tintype-operator' };

/** Labels of the pods of one part, and of nothing else in the namespace. */
export function selectorOf(
  of: Pick<Installation, 'name'>,
  component: Process,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    'app.kubernetes.io/name': 'tintype',
    'app.kubernetes.io/instance': of.name,
    'app.kubernetes.io/component': component,
    ...more,
  };
}

function sharedLabels(of: Installation): Record<string, string> {
  const { 'app.kubernetes.io/component': _none, ...labels } = selectorOf(of, 'api', MANAGED);
  return labels;
}

type NameValue = { name: string; value: string };

export function toMap(items: readonly NameValue[] | undefined): Record<string, string> {
  return Object.fromEntries((items ?? []).map(({ name, value }) => [name, value]));
}

/**
 * Fields that none of our objects has, and that would change what runs: null removes them if
 * somebody added them.
 */
export function unsetFields<Name extends string>(...names: readonly Name[]): Record<Name, null> {
  return Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>;
}

/**
 * A digest of what was last applied, so that a field that is no longer declared is recognized as
 * ours.
 */
export const APPLIED = 'tintype.dev/applied';

/** Only what was declared: our own marks are digests, which tell nobody anything. */
export function withoutOwnAnnotations(object: object): object {
  const replacer = (name: string, value: unknown) =>
    name.startsWith('tintype.dev/') ? undefined : value;
  return JSON.parse(JSON.stringify(object, replacer)) as object;
}

export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 10);
}
