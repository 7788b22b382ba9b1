/** The environment of the operator: a table of its variables, which `operator.env` may not have a second time. */
import type { Place } from './place.ts';
import { privateCa } from './private-ca.ts';
import type { ValuePath } from './values.ts';

type Variable = {
  name: string;
  /** Whoever names it in `operator.env` is told this. */
  instead: string;
  make: (place: Place) => readonly unknown[];
};

const variables: readonly Variable[] = [
  ofPod('POD_NAME', 'metadata.name', 'it is the name of the pod'),
  ofPod('POD_NAMESPACE', 'metadata.namespace', 'it is the namespace of the release'),
  ofValue('TINTYPE_WATCH_NAMESPACES', 'watchNamespaces', ({ watched }) => watched),
  ofValue('TINTYPE_RUNTIME_NAMESPACES', 'runtimeNamespaces', ({ runtime }) => runtime),
  ofValue('TINTYPE_DELIVERY_NAMESPACE', 'deliveryNamespace', (place) => place.deliveryNamespace),
  ofValue('TINTYPE_METRICS_PORT', 'metrics.port', (place) => place.asText('metrics.port')),
  ofValue('TINTYPE_LOG_LEVEL', 'operator.logLevel', (place) => place.scalar('operator.logLevel')),
  // What is young in a heap is garbage: with more room for it the process has half as much memory again.
  ofValue('NODE_OPTIONS', 'operator.heapMegabytes', (place) => {
    return `--max-old-space-size=${place.scalar('operator.heapMegabytes')} --max-semi-space-size=8`;
  }),
  {
    name: 'NODE_EXTRA_CA_CERTS',
    instead: insteadSet('caConfigMapRef.name'),
    make: (place) => privateCa(place).env,
  },
];

export function environment(place: Place): readonly unknown[] {
  return [...variables.flatMap(({ make }) => make(place)), ...place.more('operator.env')];
}

function ofPod(name: string, fieldPath: string, instead: string): Variable {
  return { name, instead, make: () => [{ name, valueFrom: { fieldRef: { fieldPath } } }] };
}

function ofValue(name: string, path: ValuePath, value: (place: Place) => unknown): Variable {
  return { name, instead: insteadSet(path), make: (place) => [{ name, value: value(place) }] };
}

function insteadSet(path: ValuePath): string {
  return `set ${path} instead`;
}

/** Two variables of one name would be refused by the API server, which does not say what to do. */
export const environmentCheck = `{{- $instead := dict
${variables.map(({ name, instead }) => `  "${name}" "${instead}"`).join('\n')}
}}
{{- range .Values.operator.env }}
{{- if hasKey $instead .name }}
{{- fail (printf "operator.env cannot have %s: %s" .name (get $instead .name)) }}
{{- end }}
{{- end }}
`;
