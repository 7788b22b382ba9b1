{{- /* What the names of all objects begin with: the release, with the product's name in it. */}}
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

{{- define "tintype.ca.env" -}}
{{- if (.Values.caConfigMapRef).name }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/tintype/ca/ca.crt
{{- end }}
{{- end }}

{{- define "tintype.ca.volume" -}}
{{- if (.Values.caConfigMapRef).name }}
- name: ca
  configMap:
    name: {{ $.Values.caConfigMapRef.name | quote }}
    items:
      - key: {{ $.Values.caConfigMapRef.key | default "ca.crt" | quote }}
        path: ca.crt
{{- end }}
{{- end }}

{{- define "tintype.ca.mount" -}}
{{- if (.Values.caConfigMapRef).name }}
- name: ca
  mountPath: /etc/tintype/ca
  readOnly: true
{{- end }}
{{- end }}
