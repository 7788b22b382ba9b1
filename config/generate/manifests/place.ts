/**
 * Where manifests are written for: kustomize, with the defaults of the values, or the chart, with Helm's expressions in
 * their place. Whoever makes a manifest asks its place for everything that differs between the two.
 */
import facts from '../../../package.json' with { type: 'json' };
import { block, expression, further } from './chart-text.ts';
import { type ValuePath, values } from './values.ts';

export type Place = {
  isChart: boolean;
  /** What the names of all objects begin with. */
  fullname: string;
  /** The namespace of the operator; inside a text `bareNamespace`. Names of namespaces may look like numbers. */
  namespace: string;
  bareNamespace: string;
  deliveryNamespace: string;
  /** The names of watched namespaces as TINTYPE_WATCH_NAMESPACES has them. */
  watched: string;
  /** Those in which an ImageService may stand, as TINTYPE_RUNTIME_NAMESPACES has them. */
  runtime: string;
  /** Those, and that of the operator: where pods of Tintype are. */
  inhabited: unknown;
  image: string;
  instance: string;
  version: string;
  managedBy: string;
  /** A single value, as it is. */
  scalar(path: ValuePath): unknown;
  /** A text that has to stay one. */
  text(path: ValuePath): unknown;
  /** A number or truth value as text, which environment variables and labels are. */
  asText(path: ValuePath): string;
  /** A list or a map. */
  tree(path: ValuePath): unknown;
  /** Items at the end of a list. */
  more(path: ValuePath): readonly unknown[];
  /** Items made of each item of a list. */
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

/** The ImageService that routes lead to stands where they do, so that is always one. Empty: the namespace of the release. */
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

/** Labels that tell the objects of one installation from those of others; a selector never changes. */
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
