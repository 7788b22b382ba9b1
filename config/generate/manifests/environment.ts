/** The operator's environment: a table of its variables, which `operator.env` must not repeat. */
import type { Place } from './place.ts';
import { privateCa } from './private-ca.ts';
import type { ValuePath } from './values.ts';

type Variable = {
  name: string;
  /** The message for a user who sets the variable in `operator.env`. */
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
  // Most young objects on the heap are garbage: a larger young generation makes the process half as
  // large again.
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

/** The API server would reject a duplicate variable without saying what to do. */
export const environmentCheck = `{{- $instead := dict
${variables.map(({ name, instead }) => `  "${name}" "${instead}"`).join('\n')}
}}
{{- range .Values.operator.env }}
{{- if hasKey $instead .name }}
{{- fail (printf "operator.env cannot have %s: %s" .name (get $instead .name)) }}
{{- end }}
{{- end }}
`;
