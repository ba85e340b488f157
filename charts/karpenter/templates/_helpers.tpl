{{- define "karpenter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "karpenter.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := include "karpenter.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "karpenter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "karpenter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "karpenter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "karpenter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The metadata that all objects share, but for the name. */}}
{{- define "karpenter.meta" -}}
labels:
  {{- include "karpenter.labels" . | nindent 2 }}
{{- with .Values.additionalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "karpenter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "karpenter.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "karpenter.image" -}}
{{- $image := .Values.controller.image | default dict }}
{{- $named := $image }}
{{- if not (kindIs "string" $image) }}{{ $named = default "tenon-sh/tenon" $image.repository }}{{ end }}
{{- if hasPrefix "public.ecr.aws/karpenter/" $named }}
{{- fail (printf "controller.image names Karpenter's own image, %s: leave controller.image out, or name the image of this release. With --reuse-values Helm keeps what the former chart had: say --reset-then-reuse-values" $named) }}
{{- end }}
{{- if kindIs "string" $image }}
{{- $image }}
{{- else if $image.digest }}
{{- printf "%s:%s@%s" $named (default .Chart.AppVersion $image.tag) $image.digest }}
{{- else }}
{{- printf "%s:%s" $named (default .Chart.AppVersion $image.tag) }}
{{- end }}
{{- end }}

{{- /* The first of a list that is set, as text. False and 0 are set; null and the empty text are not. */}}
{{- define "karpenter.first" -}}
{{- $found := "" }}
{{- range . }}
{{- if and (eq $found "") (not (kindIs "invalid" .)) }}
{{- if kindIs "slice" . }}
{{- $found = join "," . }}
{{- else }}
{{- $found = toString . }}
{{- end }}
{{- end }}
{{- end }}
{{- $found }}
{{- end }}

{{- /*
A setting by its names and their values, newest first, then its default. Names that say different things are refused:
which one the user meant is not ours to guess.
*/}}
{{- define "karpenter.setting" -}}
{{- $name := "" }}
{{- $found := "" }}
{{- range $pair := .given }}
{{- $value := include "karpenter.first" (list (index $pair 1)) }}
{{- if and $value (not $name) }}
{{- $name = index $pair 0 }}
{{- $found = $value }}
{{- else if and $value (ne $value $found) }}
{{- fail (printf "%s=%s and %s=%s say different things about one setting: keep %s, remove %s" $name $found (index $pair 0) $value $name (index $pair 0)) }}
{{- end }}
{{- end }}
{{- default .default $found }}
{{- end }}

{{- /* Every setting that has several names, once. Of the log's, those of the controller count before those of all. */}}
{{- define "karpenter.settings" -}}
{{- $v := .Values }}
{{- $new := $v.settings | default dict }}
{{- $old := $new.aws | default dict }}
{{- $oldest := $v.aws | default dict }}
clusterName: {{ include "karpenter.setting" (dict "default" "" "given" (list (list "settings.clusterName" $new.clusterName) (list "settings.aws.clusterName" $old.clusterName) (list "clusterName" $v.clusterName))) | quote }}
clusterEndpoint: {{ include "karpenter.setting" (dict "default" "" "given" (list (list "settings.clusterEndpoint" $new.clusterEndpoint) (list "settings.aws.clusterEndpoint" $old.clusterEndpoint) (list "clusterEndpoint" $v.clusterEndpoint))) | quote }}
clusterCABundle: {{ include "karpenter.setting" (dict "default" "" "given" (list (list "settings.clusterCABundle" $new.clusterCABundle) (list "settings.aws.clusterCABundle" $old.clusterCABundle))) | quote }}
defaultInstanceProfile: {{ include "karpenter.setting" (dict "default" "" "given" (list (list "settings.aws.defaultInstanceProfile" $old.defaultInstanceProfile) (list "aws.defaultInstanceProfile" $oldest.defaultInstanceProfile))) | quote }}
interruptionQueue: {{ include "karpenter.setting" (dict "default" "" "given" (list (list "settings.interruptionQueue" $new.interruptionQueue) (list "settings.aws.interruptionQueueName" $old.interruptionQueueName))) | quote }}
isolatedVPC: {{ include "karpenter.setting" (dict "default" "false" "given" (list (list "settings.isolatedVPC" $new.isolatedVPC) (list "settings.aws.isolatedVPC" $old.isolatedVPC))) | quote }}
vmMemoryOverheadPercent: {{ include "karpenter.setting" (dict "default" "0.075" "given" (list (list "settings.vmMemoryOverheadPercent" $new.vmMemoryOverheadPercent) (list "settings.aws.vmMemoryOverheadPercent" $old.vmMemoryOverheadPercent))) | quote }}
reservedENIs: {{ include "karpenter.setting" (dict "default" "0" "given" (list (list "settings.reservedENIs" $new.reservedENIs) (list "settings.aws.reservedENIs" $old.reservedENIs))) | quote }}
batchMaxDuration: {{ include "karpenter.setting" (dict "default" "10s" "given" (list (list "settings.batchMaxDuration" $new.batchMaxDuration) (list "controller.batchMaxDuration" $v.controller.batchMaxDuration))) | quote }}
batchIdleDuration: {{ include "karpenter.setting" (dict "default" "1s" "given" (list (list "settings.batchIdleDuration" $new.batchIdleDuration) (list "controller.batchIdleDuration" $v.controller.batchIdleDuration))) | quote }}
{{- $log := ternary $v.logConfig dict ($v.logConfig.enabled | default false) }}
{{- $level := $log.logLevel | default dict }}
logLevel: {{ include "karpenter.first" (list $v.controller.logLevel $level.controller $level.global $v.logLevel "info") | quote }}
logEncoding: {{ include "karpenter.first" (list $v.controller.logEncoding $log.logEncoding $v.logEncoding "console") | quote }}
logOutputPaths: {{ include "karpenter.first" (list $v.logOutputPaths $v.controller.outputPaths $log.outputPaths "stdout") | quote }}
logErrorOutputPaths: {{ include "karpenter.first" (list $v.logErrorOutputPaths $v.controller.errorOutputPaths $log.errorOutputPaths "stderr") | quote }}
{{- end }}

{{- /* Features and whether they are on, as the controller reads them. */}}
{{- define "karpenter.featureGates" -}}
{{- $gates := list }}
{{- range $name, $on := . }}
{{- if and (not (kindIs "invalid" $on)) (not (has $name (list "drift" "driftEnabled" "podDeletionCostManagement"))) }}
{{- $gates = append $gates (printf "%s=%t" (printf "%s%s" (substr 0 1 $name | upper) (substr 1 -1 $name)) $on) }}
{{- end }}
{{- end }}
{{- join "," $gates }}
{{- end }}

{{- define "karpenter.resources" -}}
{{- if .Values.controller.resources }}
{{- toYaml .Values.controller.resources }}
{{- else }}
{{- $sizes := dict "small" (list "250m" "512Mi") "medium" (list "1" "2Gi") "large" (list "4" "8Gi") }}
{{- $size := get $sizes .Values.controller.size }}
requests:
  cpu: {{ index $size 0 | quote }}
  memory: {{ index $size 1 }}
limits:
  memory: {{ index $size 1 }}
{{- end }}
{{- end }}

{{- /* A map without what is empty in it: Karpenter's values name fields of a securityContext with nothing in them, which the API server would refuse. */}}
{{- define "karpenter.filled" -}}
{{- $filled := dict }}
{{- range $name, $value := . | default dict }}
{{- if not (and (kindIs "map" $value) (empty $value)) }}{{ $_ := set $filled $name $value }}{{ end }}
{{- end }}
{{- toYaml $filled }}
{{- end }}

{{- /* Rules about other pods. A term that does not say which is about the pods of this release, as in Karpenter's chart: the API server takes it for no pods at all. */}}
{{- define "karpenter.podRules" -}}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "karpenter.selectorLabels" .all | fromYaml)) }}
{{- $rules := dict }}
{{- range $when, $terms := .rules }}
{{- $out := list }}
{{- range $given := $terms }}
{{- $term := default $given (get $given "podAffinityTerm") }}
{{- $whose := ternary (dict) $own (hasKey $term "labelSelector") }}
{{- if hasKey $given "podAffinityTerm" }}{{ $whose = dict "podAffinityTerm" $whose }}{{ end }}
{{- $out = append $out (merge (dict) $given $whose) }}
{{- end }}
{{- $_ := set $rules $when $out }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{- define "karpenter.affinity" -}}
{{- $given := .Values.affinity | default dict }}
nodeAffinity:
{{- if $given.nodeAffinity }}
  {{- toYaml $given.nodeAffinity | nindent 2 }}
{{- else }}
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      - matchExpressions:
          - key: karpenter.sh/provisioner-name
            operator: DoesNotExist
          - key: karpenter.sh/nodepool
            operator: DoesNotExist
{{- end }}
podAntiAffinity:
{{- if $given.podAntiAffinity }}
  {{- include "karpenter.podRules" (dict "all" . "rules" $given.podAntiAffinity) | nindent 2 }}
{{- else }}
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "karpenter.selectorLabels" . | nindent 12 }}
{{- end }}
{{- with $given.podAffinity }}
podAffinity:
  {{- include "karpenter.podRules" (dict "all" $ "rules" .) | nindent 2 }}
{{- end }}
{{- end }}

{{- define "karpenter.spread" -}}
{{- $selector := dict "matchLabels" (include "karpenter.selectorLabels" . | fromYaml) }}
{{- $all := list }}
{{- range .Values.topologySpreadConstraints }}
{{- $all = append $all (ternary . (merge (dict "labelSelector" $selector) .) (hasKey . "labelSelector")) }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{- /* Names of settings that are accepted and change nothing, as far as they are set. */}}
{{- define "karpenter.withoutEffect" -}}
{{- $set := list }}
{{- $new := .Values.settings | default dict }}
{{- range list "assumeRoleARN" "assumeRoleDuration" }}
{{- if hasKey $new . }}{{ $set = append $set (printf "settings.%s" .) }}{{ end }}
{{- end }}
{{- $old := $new.aws | default dict }}
{{- range list "tags" "enablePodENI" "enableENILimitedPodDensity" "nodeNameConvention" "assumeRoleARN" "assumeRoleDuration" }}
{{- if hasKey $old . }}{{ $set = append $set (printf "settings.aws.%s" .) }}{{ end }}
{{- end }}
{{- range list "drift" "driftEnabled" "podDeletionCostManagement" }}
{{- if not (kindIs "invalid" (index ($new.featureGates | default dict) .)) }}{{ $set = append $set (printf "settings.featureGates.%s" .) }}{{ end }}
{{- end }}
{{- if (.Values.webhook | default dict).logLevel }}{{ $set = append $set "webhook.logLevel" }}{{ end }}
{{- if ((.Values.webhook | default dict).metrics | default dict).port }}{{ $set = append $set "webhook.metrics.port" }}{{ end }}
{{- if ((.Values.logConfig | default dict).logLevel | default dict).webhook }}{{ $set = append $set "logConfig.logLevel.webhook" }}{{ end }}
{{- if .Values.postInstallHook }}{{ $set = append $set "postInstallHook" }}{{ end }}
{{- join ", " $set }}
{{- end }}

{{- /* Where the folder of the recording is mounted, as a list: empty where nothing is recorded, or something else is mounted there. */}}
{{- define "karpenter.recording" -}}
{{- $mounts := list -}}
{{- with .Values.settings.recordFile -}}
{{- $mounts = list (dict "name" "recording" "mountPath" (dir .)) -}}
{{- range $.Values.controller.extraVolumeMounts -}}
{{- if eq .mountPath (dir $.Values.settings.recordFile) -}}{{- $mounts = list -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $mounts -}}
{{- end -}}

{{- /* Not empty if the controller answers a webhook. A shadow answers none. */}}
{{- define "karpenter.viewAPI" -}}
{{- if and .Values.settings.viewAPI (include "karpenter.webhook" .) }}true{{ end }}
{{- end }}

{{- /* Whether pods with resource claims are planned for. Karpenter's chart cannot say so but by a variable of its own. */}}
{{- define "karpenter.devices" -}}
{{- $ignored := include "karpenter.first" (list .Values.settings.ignoreDRARequests "true") }}
{{- range .Values.controller.env }}
{{- if and (eq .name "IGNORE_DRA_REQUESTS") (hasKey . "value") }}
{{- $ignored = toString .value }}
{{- end }}
{{- end }}
{{- if has (lower $ignored) (list "false" "f" "0") }}true{{ end }}
{{- end }}

{{- define "karpenter.webhook" -}}
{{- if and .Values.webhook.enabled (not .Values.shadow) }}true{{ end }}
{{- end }}
