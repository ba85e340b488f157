{{- define "karpenter-crd.meta" -}}
labels:
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  {{- with .Values.additionalLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.Values.additionalAnnotations | default dict) (ternary (dict "helm.sh/resource-policy" "keep") (dict) .Values.keep) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
