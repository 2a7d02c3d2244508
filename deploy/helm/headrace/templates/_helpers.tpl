{{- define "headrace.labels" -}}
{app.kubernetes.io/name: {{ .Release.Name }}, app.kubernetes.io/component: {{ .component }}}
{{- end }}
{{- define "headrace.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}
{{- define "headrace.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}
{{- define "headrace.tls" -}}
- {name: HEADRACE_TLS_CERT, value: /etc/headrace/host.pem}
- {name: HEADRACE_TLS_KEY, value: /etc/headrace/host.key}
- {name: HEADRACE_TLS_CA, value: /etc/headrace/ca.pem}
{{- end }}
{{- define "headrace.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
{{- define "headrace.service" -}}
{{ .Release.Name }}-dispatcher-0.{{ .Release.Name }}-dispatcher
{{- end }}
