/**
 * A private certificate authority that the operator trusts in addition to the usual ones. The chart adds it when a
 * value names the ConfigMap; kustomize has a separate folder, with a fixed name for the ConfigMap.
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
    // With `items` the kubelet reports a missing key; without, Node would start without the file.
    volume: { name: 'ca', configMap: { name, items: [{ key, path: FILE }] } },
    mount: { name: 'ca', mountPath: FOLDER, readOnly: true },
  };
}

/** The items to append to the Deployment's lists; none in kustomize. */
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

/** The kustomize folder to use in place of config/default. */
export const privateCaKustomization = {
  resources: ['../default'],
  patches: [
    {
      target: { kind: 'Deployment', name: 'tintype-operator' },
      patch: printYaml(Object.entries(added).map(([path, value]) => ({ op: 'add', path, value }))),
    },
  ],
};
