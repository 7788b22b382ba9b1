/**
 * An authority of one's own, which the operator trusts beside the usual ones. The chart has its parts where a value names
 * the ConfigMap; kustomize has a folder beside the usual one, with a ConfigMap of a fixed name.
 */
import { expression, further, printTemplate, printYaml } from './chart-text.ts';
import { chartPlace, type Place } from './place.ts';
import { values } from './values.ts';

const FOLDER = '/etc/tintype/ca';
const FILE = 'ca.crt';

type Parts = { env: object; volume: object; mount: object };

function partsOf(name: unknown, key: unknown): Parts {
  return {
    env: { name: 'NODE_EXTRA_CA_CERTS', value: `${FOLDER}/${FILE}` },
    // Of a key that is missing the kubelet tells; without items Node would go on without the file.
    volume: { name: 'ca', configMap: { name, items: [{ key, path: FILE }] } },
    mount: { name: 'ca', mountPath: FOLDER, readOnly: true },
  };
}

/** What lists of the Deployment have at their ends: in kustomize nothing. */
export function privateCa({ isChart }: Place): Record<keyof Parts, readonly unknown[]> {
  const item = (part: keyof Parts) =>
    isChart ? [further(`include "${helperOf(part)}" $ | fromYamlArray`)] : [];
  return { env: item('env'), volume: item('volume'), mount: item('mount') };
}

const helperOf = (part: string) => `tintype.ca.${part}`;
const standardKey = values['caConfigMapRef.key'].default;
const chartParts = partsOf(
  chartPlace.text('caConfigMapRef.name'),
  expression(`$.Values.caConfigMapRef.key | default "${standardKey}" | quote`),
);

export const privateCaHelpers = Object.entries(chartParts)
  .map(
    ([part, item]) => `
{{- define "${helperOf(part)}" -}}
{{- if (.Values.caConfigMapRef).name }}
${printTemplate([item])}{{- end }}
{{- end }}
`,
  )
  .join('');

const pod = '/spec/template/spec';
const { env, volume, mount } = partsOf('tintype-ca', standardKey);
const added: Record<string, object> = {
  [`${pod}/containers/0/env/-`]: env,
  [`${pod}/containers/0/volumeMounts/-`]: mount,
  [`${pod}/volumes/-`]: volume,
};

/** The folder of kustomize that stands in the place of config/default. */
export const privateCaKustomization = {
  resources: ['../default'],
  patches: [
    {
      target: { kind: 'Deployment', name: 'tintype-operator' },
      patch: printYaml(Object.entries(added).map(([path, value]) => ({ op: 'add', path, value }))),
    },
  ],
};
