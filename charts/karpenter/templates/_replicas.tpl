{{- /*
How many replicas to ask for. Two, unless said otherwise; one while the cluster is so small that its nodes have room
for one alone: helm's --wait waits for every replica, and the second would never come. What helm cannot see (`helm
template`, a cluster whose nodes are still to come, as with Fargate) counts as room enough.
*/}}
{{- define "karpenter.replicas" -}}
{{- if .Values.shadow }}
{{- 1 }}
{{- else if not (kindIs "invalid" .Values.replicas) }}
{{- .Values.replicas }}
{{- else if eq (include "karpenter.room" .) "1" }}
{{- 1 }}
{{- else }}
{{- 2 }}
{{- end }}
{{- end }}

{{- /* How many pods of the controller the nodes have room for, at most 2; empty: it is not known. */}}
{{- define "karpenter.room" -}}
{{- $nodes := list }}
{{- range (lookup "v1" "Node" "" "").items }}
{{- if eq (include "karpenter.mayRunOn" (dict "node" . "values" $.Values)) "true" }}
{{- $nodes = append $nodes . }}
{{- end }}
{{- end }}
{{- if and $nodes (le (len $nodes) 5) }}
{{- $want := (include "karpenter.resources" . | fromYaml).requests | default dict }}
{{- $cpu := include "karpenter.milli" ($want.cpu | default "1m") | int64 }}
{{- $memory := include "karpenter.kibi" ($want.memory | default "1Mi") | int64 }}
{{- $pods := (lookup "v1" "Pod" "" "").items | default list }}
{{- $room := 0 }}
{{- range $node := $nodes }}
{{- $freeCPU := include "karpenter.milli" $node.status.allocatable.cpu | int64 }}
{{- $freeMemory := include "karpenter.kibi" $node.status.allocatable.memory | int64 }}
{{- range $pod := $pods }}
{{- $ours := and (eq $pod.metadata.namespace $.Release.Namespace) (eq (index ($pod.metadata.labels | default dict) "app.kubernetes.io/instance" | default "") $.Release.Name) }}
{{- if and (eq ($pod.spec.nodeName | default "") $node.metadata.name) (not $ours) (has $pod.status.phase (list "Pending" "Running")) }}
{{- range $pod.spec.containers }}
{{- $uses := (.resources | default dict).requests | default dict }}
{{- $freeCPU = sub $freeCPU (include "karpenter.milli" ($uses.cpu | default "0") | int64) }}
{{- $freeMemory = sub $freeMemory (include "karpenter.kibi" ($uses.memory | default "0") | int64) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (ge $freeCPU $cpu) (ge $freeMemory $memory) }}
{{- $room = add $room (min (div $freeCPU $cpu) (div $freeMemory $memory)) }}
{{- end }}
{{- end }}
{{- min $room 2 }}
{{- end }}
{{- end }}

{{- /* Whether pods of the controller may run on a node, by its labels and taints. */}}
{{- define "karpenter.mayRunOn" -}}
{{- $labels := .node.metadata.labels | default dict }}
{{- $may := not (or (hasKey $labels "karpenter.sh/nodepool") (hasKey $labels "karpenter.sh/provisioner-name") .node.spec.unschedulable) }}
{{- range $key, $value := .values.nodeSelector }}
{{- if ne (get $labels $key) (toString $value) }}{{ $may = false }}{{ end }}
{{- end }}
{{- range $taint := .node.spec.taints }}
{{- $tolerated := eq $taint.effect "PreferNoSchedule" }}
{{- range $.values.tolerations }}
{{- if or (eq (.key | default "") $taint.key) (and (not .key) (eq (.operator | default "") "Exists")) }}{{ $tolerated = true }}{{ end }}
{{- end }}
{{- if not $tolerated }}{{ $may = false }}{{ end }}
{{- end }}
{{- $may }}
{{- end }}

{{- /* An amount of CPU in thousandths. */}}
{{- define "karpenter.milli" -}}
{{- $amount := toString . }}
{{- if hasSuffix "m" $amount }}
{{- trimSuffix "m" $amount }}
{{- else }}
{{- mulf (float64 $amount) 1000 | int64 }}
{{- end }}
{{- end }}

{{- /* An amount of memory in KiB. */}}
{{- define "karpenter.kibi" -}}
{{- $amount := toString . }}
{{- $unit := regexFind "[A-Za-z]+$" $amount }}
{{- $sizes := dict "" 0.0009765625 "k" 0.9765625 "M" 976.5625 "G" 976562.5 "Ki" 1.0 "Mi" 1024.0 "Gi" 1048576.0 "Ti" 1073741824.0 "m" 0.0 }}
{{- mulf (trimSuffix $unit $amount | float64) (get $sizes $unit | default 0.0) | int64 }}
{{- end }}
