package controller

// A retired variable is one that an earlier release of Karpenter read, and this one does not.
type retired struct {
	name    string
	without string // the value that asks for what is done anyway
	instead string
}

// retiredVariables are those that may still be in the environment of a release that was upgraded, as by the value controller.env of its chart.
func retiredVariables() []retired {
	const maxPods = "spec.kubelet.maxPods of the node class, or kubeletConfiguration.maxPods of a Provisioner, says how many pods a node takes"
	return []retired{
		{"ASSUME_ROLE_ARN", "", "the role of the service account is used; another can be assumed by role_arn in the file that AWS_CONFIG_FILE names"},
		{"ASSUME_ROLE_DURATION", "15m", "the role of the service account is used; another can be assumed by role_arn in the file that AWS_CONFIG_FILE names"},
		{"AWS_ENABLE_POD_ENI", "true", "types that have network interfaces for pods are always known to have them"},
		{"AWS_ENI_LIMITED_POD_DENSITY", "true", maxPods},
		{"AWS_ISOLATED_VPC", "false", "set ISOLATED_VPC"},
		{"AWS_NODE_NAME_CONVENTION", "", "nodes are known by the ids of their machines, whatever they are called"},
		{"DISABLE_WEBHOOK", "false", "set WEBHOOK_PORT to 0, or webhook.enabled of the chart to false"},
		{"LEADER_ELECT", "true", "set DISABLE_LEADER_ELECTION"},
		{"VM_MEMORY_OVERHEAD", "0.075", "set VM_MEMORY_OVERHEAD_PERCENT"},
		{"WEBHOOK_METRICS_PORT", "8001", "all metrics are at METRICS_PORT"},
	}
}

// retiredNotes name the variables that are set and not read.
func retiredNotes(getenv func(string) string) []note {
	var out []note
	for _, r := range retiredVariables() {
		if value := getenv(r.name); value != "" && value != r.without {
			out = append(out, note{"an environment variable of an earlier release is not read", []any{"variable", r.name, "value", value, "instead", r.instead}})
		}
	}
	return out
}
