/**
 * The chart's templates that are not objects: named templates, and the notes that Helm prints after an install.
 */
import { privateCaHelpers } from './private-ca.ts';

export const helpers = `{{- /* What the names of all objects begin with: the release, with the product's name in it. */}}
{{- define "tintype.fullname" -}}
{{- $name := default .Release.Name .Values.nameOverride }}
{{- if contains "tintype" $name }}{{ $name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-tintype" ($name | trunc 32 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "tintype.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}{{ end }}
{{- end }}

{{- define "tintype.networkPolicy.egressPorts" -}}
{{- range .Values.networkPolicy.egressPorts }}
- protocol: TCP
  port: {{ . }}
{{- end }}
{{- end }}
${privateCaHelpers}`;

export const notes = `{{- $name := include "tintype.fullname" . -}}
{{- $watched := .Values.watchNamespaces | default (list "default") | first -}}
Tintype's operator is starting. It is ready when this command returns:

  kubectl --namespace {{ .Release.Namespace }} wait deployment/{{ $name }}-operator --for=condition=Available --timeout=180s

{{- if not (lookup "v1" "Secret" .Release.Namespace .Values.secretName) }}

It waits for the Secret {{ .Values.secretName }}, which you must create:

  kubectl --namespace {{ .Release.Namespace }} create secret generic {{ .Values.secretName }} \\
    --from-literal=TINTYPE_DATABASE_URL=postgres://tintype:…@…:5432/tintype \\
    --from-literal=TINTYPE_KEY_ENCRYPTION_KEYS="k1:$(openssl rand -base64 32)"
{{- end }}

The first ImageService migrates the database. Without an ImageService, migrate it yourself; until then, projects report SchemaNotReady:

  kubectl --namespace {{ .Release.Namespace }} exec deployment/{{ $name }}-operator -- tintype migrate

Create a first project, and wait for it:

  kubectl apply --filename - <<'END'
  apiVersion: tintype.dev/v1alpha1
  kind: Project
  metadata: { name: demo, namespace: {{ $watched }} }
  spec: { displayName: Demo }
  END
  kubectl --namespace {{ $watched }} wait project/demo --for=condition=Ready --timeout=60s

{{- if not .Values.crds.keep }}

Uninstalling this release removes the custom resource definitions, and with them all of their resources.
{{- end }}
{{- if .Values.watchNamespaces }}

Only these namespaces are watched: {{ join ", " .Values.watchNamespaces }}.
{{- end }}
`;

export const helmIgnore = '*.md.gotmpl\n*.tgz\n.git/\n';
