/**
 * The target of manifests: kustomize, with the default values, or the chart, with Helm expressions instead. Code that
 * makes a manifest asks its place for everything that differs between the two.
 */
import facts from '../../../package.json' with { type: 'json' };
import { block, expression, further } from './chart-text.ts';
import { type ValuePath, values } from './values.ts';

export type Place = {
  isChart: boolean;
  /** The prefix of all object names. */
  fullname: string;
  /**
   * The operator's namespace; within a text use `bareNamespace`. Quoted, as the name of a namespace
   * may look like a number.
   */
  namespace: string;
  bareNamespace: string;
  deliveryNamespace: string;
  /** The watched namespaces, in the format of TINTYPE_WATCH_NAMESPACES. */
  watched: string;
  /** The namespaces that may hold an ImageService, in the format of TINTYPE_RUNTIME_NAMESPACES. */
  runtime: string;
  /** `runtime` and the operator's namespace: where pods of Tintype run. */
  inhabited: unknown;
  image: string;
  instance: string;
  version: string;
  managedBy: string;
  /** A single value, unchanged. */
  scalar(path: ValuePath): unknown;
  /** A value that must remain a string. */
  text(path: ValuePath): unknown;
  /** A number or boolean as a string, as environment variables and labels require. */
  asText(path: ValuePath): string;
  /** A list or a map. */
  tree(path: ValuePath): unknown;
  /** Items to append to a list. */
  more(path: ValuePath): readonly unknown[];
  /** One item for each item of a list. */
  each(path: ValuePath, make: (item: unknown) => object): unknown;
};

export const NAMESPACE = 'tintype-system';

export const kustomizePlace: Place = {
  isChart: false,
  fullname: 'tintype',
  namespace: NAMESPACE,
  bareNamespace: NAMESPACE,
  deliveryNamespace: NAMESPACE,
  watched: '',
  runtime: '',
  inhabited: [NAMESPACE],
  image: `tintype:${facts.version}`,
  instance: 'tintype',
  version: facts.version,
  managedBy: 'kustomize',
  scalar: (path) => values[path].default,
  text: (path) => values[path].default,
  asText: (path) => String(values[path].default),
  tree: (path) => values[path].default,
  more: (path) => asList(values[path].default),
  each: (path, make) => asList(values[path].default).map(make),
};

/**
 * The delivery namespace is always included, as the ImageService that routes lead to is in it.
 * Empty: the release namespace.
 */
export const RUNTIME_NAMESPACES =
  'append ($.Values.runtimeNamespaces | default list) ($.Values.deliveryNamespace | default (and $.Values.runtimeNamespaces $.Release.Namespace)) | compact | uniq';

export const chartPlace: Place = {
  isChart: true,
  fullname: expression('include "tintype.fullname" $'),
  namespace: expression('$.Release.Namespace | quote'),
  bareNamespace: expression('$.Release.Namespace'),
  deliveryNamespace: expression('$.Values.deliveryNamespace | default $.Release.Namespace | quote'),
  watched: expression('join "," $.Values.watchNamespaces | quote'),
  runtime: expression(`${RUNTIME_NAMESPACES} | join "," | quote`),
  inhabited: expression(`append (${RUNTIME_NAMESPACES}) $.Release.Namespace | uniq | toJson`),
  image: expression('include "tintype.image" $'),
  instance: expression('$.Release.Name | quote'),
  version: expression('$.Chart.AppVersion'),
  managedBy: expression('$.Release.Service'),
  scalar: (path) => expression(`$.Values.${path}`),
  text: (path) => expression(`$.Values.${path} | quote`),
  asText: (path) => expression(`$.Values.${path} | toString | quote`),
  tree: (path) => block(`$.Values.${path}`),
  more: (path) => [further(`$.Values.${path}`)],
  each: (path) => block(`(include "tintype.${path}" $ | fromYamlArray)`),
};

/**
 * Labels that identify one installation's objects; they are used as a selector, which must never
 * change.
 */
export function selectorLabels(place: Place): Record<string, string> {
  return {
    'app.kubernetes.io/name': 'tintype',
    'app.kubernetes.io/instance': place.instance,
    'app.kubernetes.io/component': 'operator',
  };
}

export function labels(place: Place): Record<string, string> {
  return {
    ...selectorLabels(place),
    'app.kubernetes.io/version': place.version,
    'app.kubernetes.io/managed-by': place.managedBy,
  };
}

/** The metadata of an object in the operator's namespace. */
export function metadata(place: Place, name: string) {
  return { name, namespace: place.namespace, labels: labels(place) };
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
