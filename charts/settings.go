// Package charts says what the settings of the Helm charts beside it are called, and by whom they are read.
package charts

// Setting is one thing that an operator can choose.
type Setting struct {
	Value   string   // its name in the chart's values
	Older   []string // the names it had in older charts, newest first
	Env     string   // the variable that the controller reads it from
	Key     string   // its key in the ConfigMap karpenter-global-settings, if it has one
	Default string
	Meaning string
}

// Settings are the settings of the controller that the chart passes on.
func Settings() []Setting {
	return []Setting{
		{"settings.clusterName", []string{"settings.aws.clusterName", "clusterName"}, "CLUSTER_NAME", "aws.clusterName", "", "Name of the EKS cluster. Required."},
		{"settings.clusterEndpoint", []string{"settings.aws.clusterEndpoint", "clusterEndpoint"}, "CLUSTER_ENDPOINT", "aws.clusterEndpoint", "", "Where nodes find the API server. Empty: EKS is asked."},
		{"settings.clusterCABundle", []string{"settings.aws.clusterCABundle"}, "CLUSTER_CA_BUNDLE", "", "", "Certificate of the API server in base64. Empty: EKS is asked."},
		{"settings.aws.defaultInstanceProfile", []string{"aws.defaultInstanceProfile"}, "AWS_DEFAULT_INSTANCE_PROFILE", "aws.defaultInstanceProfile", "", "Instance profile of AWSNodeTemplates and inline providers that name none."},
		{"settings.interruptionQueue", []string{"settings.aws.interruptionQueueName"}, "INTERRUPTION_QUEUE", "aws.interruptionQueueName", "", "Queue of interruption notices. Empty: none are read."},
		{"settings.isolatedVPC", []string{"settings.aws.isolatedVPC"}, "ISOLATED_VPC", "aws.isolatedVPC", "false", "Do not call services that have no endpoint in a VPC."},
		{"settings.vmMemoryOverheadPercent", []string{"settings.aws.vmMemoryOverheadPercent"}, "VM_MEMORY_OVERHEAD_PERCENT", "aws.vmMemoryOverheadPercent", "0.075", "Share of memory that machines are counted without."},
		{"settings.reservedENIs", []string{"settings.aws.reservedENIs"}, "RESERVED_ENIS", "", "0", "Network interfaces that pods cannot use."},
		{"settings.batchMaxDuration", []string{"controller.batchMaxDuration"}, "BATCH_MAX_DURATION", "batchMaxDuration", "10s", "Longest wait for further pods before a decision."},
		{"settings.batchIdleDuration", []string{"controller.batchIdleDuration"}, "BATCH_IDLE_DURATION", "batchIdleDuration", "1s", "A decision is made when no pod came for so long."},
		{"settings.enableZonalShift", nil, "ENABLE_ZONAL_SHIFT", "", "false", "Launch nothing in zones that the cluster's traffic is shifted away from."},
		{"settings.disableDryRun", nil, "DISABLE_DRY_RUN", "", "false", "Do not ask EC2 by dry runs whether machines of a class could be launched."},
		{"settings.eksControlPlane", nil, "EKS_CONTROL_PLANE", "", "false", "Take the version of the cluster from EKS alone; otherwise the API server's stands in where EKS does not answer."},
		{"settings.amiRefreshInterval", nil, "AMI_REFRESH_INTERVAL", "", "1m", "How long what EC2 said of images is used, at least 1m."},
		{"settings.subnetRefreshInterval", nil, "SUBNET_REFRESH_INTERVAL", "", "1m", "How long what EC2 said of subnets is used, at least 1m."},
		{"settings.securityGroupRefreshInterval", nil, "SECURITY_GROUP_REFRESH_INTERVAL", "", "5m", "How long what EC2 said of security groups is used, at least 1m."},
		{"settings.preferencePolicy", nil, "PREFERENCE_POLICY", "", "Respect", "Respect or Ignore what pods prefer."},
		{"settings.minValuesPolicy", nil, "MIN_VALUES_POLICY", "", "Strict", "Strict, or BestEffort to lower minValues."},
		{"settings.nodeCharge", nil, "NODE_CHARGE", "", "0.02", "What a node counts beside its price, an hour in the currency of prices, such as what an agent costs for each: with more of it plans have fewer and larger nodes."},
		{"settings.spotPremium", nil, "SPOT_PREMIUM", "", "0", "Percent of its price that spot counts as costing more, because it may be taken back."},
		{"settings.unhealthyPoolsLast", nil, "UNHEALTHY_POOLS_LAST", "", "false", "Buy last from pools whose machines were launched and did not register (`NodeRegistrationHealthy` is False), whatever they weigh."},
		{"settings.initializationTimeout", nil, "INITIALIZATION_TIMEOUT", "", "0s", "How long a node that has registered may take to be initialized (startup taints gone, what it asked for there) before it is drained and given up, at least 1m. 0s: for ever, as Karpenter waits."},
		{"settings.nominatePods", nil, "NOMINATE_PODS", "", "true", "Nominate pods for the nodes they are planned for, so that kube-scheduler follows the plan. Needs Kubernetes 1.35."},
		{"settings.holdNodesFor", nil, "HOLD_NODES_FOR", "", "20s", "How long a node that has joined may take no pods, until all of its own that are spread over zones can be bound. 0s: no time. Needs pods to be nominated."},
		{"settings.movePods", nil, "MOVE_PODS", "", "true", "Move pods where their pools say so: to make the cluster cheaper, and to replace nodes that have drifted. Otherwise only nodes that are empty or too old are given back."},
		{"settings.consolidationLevel", nil, "CONSOLIDATION_LEVEL", "", "normal", "How much has to be saved for a pod to be moved, where its pool does not say: cautious, normal or eager."},
		{"settings.livePage", nil, "LIVE_PAGE", "", "false", "Show the cluster as it changes, and answer questions about it, to everyone who reaches the port of metrics."},
		{"settings.recordFile", nil, "RECORD_FILE", "", "", "File in which decisions are recorded, for `tenon replay`, such as /recording/tenon.rec. Its folder is an emptyDir, unless `controller.extraVolumeMounts` has something there. Empty: nothing is recorded."},
		{"settings.recordLimit", nil, "RECORD_LIMIT", "", "268435456", "Bytes that the recording may have; the oldest decisions make room."},
		{"settings.otlpEndpoint", nil, "OTEL_EXPORTER_OTLP_ENDPOINT", "", "", "URL of an OpenTelemetry collector that takes OTLP over HTTP, such as http://collector:4318: spans are sent to it of how pods came to run. Empty: none. Other variables of OpenTelemetry can be set by `controller.env`."},
		{"settings.viewAPI", nil, "VIEW_API", "", "false", "Answer callers of the API server by their own rights: the APIService v1.view.tenon.sh. Needs `webhook.enabled`."},
		{"settings.disableClusterStateObservability", nil, "DISABLE_CLUSTER_STATE_OBSERVABILITY", "", "false", "No metrics of single pods, nodes, pools and conditions, and no events of conditions."},
		{"settings.ignoreDRARequests", nil, "IGNORE_DRA_REQUESTS", "", "true", "Pods with resource claims are refused with the reason; if false they are planned for, with the devices that drivers publish and NodePools state by `karpenter.sh/devices`."},
		{"settings.schedulerConfig", nil, "SCHEDULER_CONFIG", "", "", "Document with podTopologySpread.defaultConstraints, as kube-scheduler's configuration has them: pods that state no topology spread constraint are planned with these."},
		{"shadow", nil, "SHADOW", "", "false", "Decide and tell, and change nothing; the role only reads then."},
		{"settings.featureGates", nil, "FEATURE_GATES", "", "", "Features to switch: nodeRepair, nodeOverlay, capacityBuffer, reservedCapacity and spotToSpotConsolidation; staticCapacity is always on."},
		{"settings.awsFeatureGates", nil, "AWS_FEATURE_GATES", "", "", "Features of AWS to switch: nodeClassCEL, by which kubelet settings of classes may be expressions."},
		{"controller.logLevel", []string{"logLevel"}, "LOG_LEVEL", "", "info", "debug, info or error."},
		{"controller.logEncoding", []string{"logEncoding"}, "LOG_ENCODING", "", "console", "console or json."},
		{"logOutputPaths", []string{"controller.outputPaths"}, "LOG_OUTPUT_PATHS", "", "stdout", "Where the log goes: stdout, stderr or files."},
		{"logErrorOutputPaths", []string{"controller.errorOutputPaths"}, "LOG_ERROR_OUTPUT_PATHS", "", "stderr", "Where errors go."},
		{"controller.metrics.port", nil, "METRICS_PORT", "", "8080", "Port of the metrics."},
		{"controller.healthProbe.port", nil, "HEALTH_PROBE_PORT", "", "8081", "Port of the probes."},
		{"webhook.port", nil, "WEBHOOK_PORT", "", "8443", "Port of the webhook; without `webhook.enabled` there is none."},
	}
}

// KarpentersImages is how the names of Karpenter's own images begin, which the chart refuses to run.
const KarpentersImages = "public.ecr.aws/karpenter/"

// WithoutEffect are values of Karpenter's charts that are accepted, so that a
// values file can be kept, and that change nothing. The notes of a release name those that are set.
func WithoutEffect() []string {
	return []string{
		"settings.assumeRoleARN", "settings.assumeRoleDuration",
		"settings.aws.assumeRoleARN", "settings.aws.assumeRoleDuration", "settings.aws.enableENILimitedPodDensity", "settings.aws.enablePodENI",
		"settings.aws.nodeNameConvention", "settings.aws.tags",
		"settings.featureGates.drift", "settings.featureGates.driftEnabled", "settings.featureGates.podDeletionCostManagement",
		"webhook.logLevel", "webhook.metrics.port", "logConfig.logLevel.webhook", "postInstallHook",
	}
}
