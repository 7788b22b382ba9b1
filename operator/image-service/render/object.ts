/** The head of every object of an installation: its name, its labels, and that the ImageService owns it. */
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
  /** What stands behind the name of the installation. */
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

/** What the pods of a part have, and nothing else in the namespace has. */
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

/** Without the fields that are not set. */
export function defined<Fields extends Record<string, unknown>>(fields: Fields): Partial<Fields> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as Partial<Fields>;
}

/** What nothing of ours has, and what would change what runs if somebody added it: it is taken away again. */
export function without<Name extends string>(...names: readonly Name[]): Record<Name, null> {
  return Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>;
}

/** What was applied last, by its digest, so that a field which is declared no more is seen to be ours. */
export const APPLIED = 'tintype.dev/applied';

/** As it was declared: our own marks are digests, which tell nobody anything. */
export function withoutMarks(object: object): object {
  const isTelling = (name: string, value: unknown) =>
    name.startsWith('tintype.dev/') ? undefined : value;
  return JSON.parse(JSON.stringify(object, isTelling)) as object;
}

export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 10);
}
