{{- /* Labels of an object: those that `gpugate manifests` gives it, and Helm's. Takes (root, component). */ -}}
{{- define "gpugate.labels" -}}
{{ include "gpugate.selector" (last .) }}
app.kubernetes.io/managed-by: {{ (first .).Release.Service }}
app.kubernetes.io/version: {{ (first .).Chart.AppVersion | quote }}
helm.sh/chart: {{ (first .).Chart.Name }}-{{ (first .).Chart.Version }}
{{- end -}}

{{- /* Labels that do not change with the version. Takes the component. */ -}}
{{- define "gpugate.selector" -}}
app.kubernetes.io/name: gpugate
app.kubernetes.io/component: {{ . }}
{{- end -}}

{{- define "gpugate.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* What the pods of server and keeper have in common. Takes (root, values of one of them). */ -}}
{{- define "gpugate.pod" -}}
{{- $root := first . -}}
{{- $values := last . -}}
enableServiceLinks: false
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "gpugate.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
readOnlyRootFilesystem: true
{{- end -}}
