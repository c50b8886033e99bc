{{/* What a pod is selected by; it never changes. Give it a dict with root and role. */}}
{{- define "spotwire.selector" -}}
app.kubernetes.io/name: spotwire
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The labels of everything. Give it the root. */}}
{{- define "spotwire.labels" -}}
app.kubernetes.io/name: spotwire
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}
