package metric

import "slices"

// The names of metrics that code writes. Those that begin with karpenter_ are
// Karpenter's, with its labels, so that dashboards and alerts go on working;
// those that begin with tenon_ are our own.
const (
	BuildInfo = "karpenter_build_info"

	ClaimsCreated                     = "karpenter_nodeclaims_created_total"
	ClaimsTerminated                  = "karpenter_nodeclaims_terminated_total"
	ClaimsDisrupted                   = "karpenter_nodeclaims_disrupted_total"
	ClaimsUnhealthyDisrupted          = "karpenter_nodeclaims_unhealthy_disrupted_total"
	ClaimsTerminationDuration         = "karpenter_nodeclaims_termination_duration_seconds"
	ClaimsInstanceTerminationDuration = "karpenter_nodeclaims_instance_termination_duration_seconds"

	NodesCreated             = "karpenter_nodes_created_total"
	NodesTerminated          = "karpenter_nodes_terminated_total"
	NodesDrained             = "karpenter_nodes_drained_total"
	NodesTerminationDuration = "karpenter_nodes_termination_duration_seconds"
	NodesLifetimeDuration    = "karpenter_nodes_lifetime_duration_seconds"
	NodesAllocatable         = "karpenter_nodes_allocatable"
	NodesPodRequests         = "karpenter_nodes_total_pod_requests"
	NodesDaemonRequests      = "karpenter_nodes_total_daemon_requests"
	NodesPodLimits           = "karpenter_nodes_total_pod_limits"
	NodesDaemonLimits        = "karpenter_nodes_total_daemon_limits"
	NodesSystemOverhead      = "karpenter_nodes_system_overhead"
	NodesCurrentLifetime     = "karpenter_nodes_current_lifetime_seconds"
	ClusterUtilization       = "karpenter_cluster_utilization_percent"

	PoolsLimit              = "karpenter_nodepools_limit"
	PoolsUsage              = "karpenter_nodepools_usage"
	PoolsCost               = "karpenter_nodepools_cost_total"
	PoolsCostErrors         = "karpenter_nodepools_cost_tracker_errors_total"
	PoolsAllowedDisruptions = "karpenter_nodepools_allowed_disruptions"
	PoolsConsumingBudgets   = "karpenter_nodepools_nodes_consuming_budgets"

	PodsState                       = "karpenter_pods_state"
	PodsStartupDuration             = "karpenter_pods_startup_duration_seconds"
	PodsBoundDuration               = "karpenter_pods_bound_duration_seconds"
	PodsUnstartedTime               = "karpenter_pods_unstarted_time_seconds"
	PodsUnboundTime                 = "karpenter_pods_unbound_time_seconds"
	PodsProvisioningBoundDuration   = "karpenter_pods_provisioning_bound_duration_seconds"
	PodsProvisioningStartupDuration = "karpenter_pods_provisioning_startup_duration_seconds"
	PodsProvisioningUnboundTime     = "karpenter_pods_provisioning_unbound_time_seconds"
	PodsProvisioningUnstartedTime   = "karpenter_pods_provisioning_unstarted_time_seconds"
	PodsProvisioningUndecidedTime   = "karpenter_pods_provisioning_scheduling_undecided_time_seconds"
	PodsDecisionDuration            = "karpenter_pods_scheduling_decision_duration_seconds"
	PodsEvictionRequests            = "karpenter_pods_eviction_requests_total"
	PodsDrained                     = "karpenter_pods_drained_total"
	PodsDisruptionInitiated         = "karpenter_pods_disruption_initiated_total"

	SchedulingDuration     = "karpenter_scheduler_scheduling_duration_seconds"
	SchedulerUnfinished    = "karpenter_scheduler_unfinished_work_seconds"
	SchedulerQueueDepth    = "karpenter_scheduler_queue_depth"
	SchedulerIgnoredPods   = "karpenter_scheduler_ignored_pods_count"
	SchedulerUnschedulable = "karpenter_scheduler_unschedulable_pods_count"
	SchedulerPendingByZone = "karpenter_scheduler_pending_pods_by_effective_zone_count"

	ClusterStateNodes    = "karpenter_cluster_state_node_count"
	ClusterStateSynced   = "karpenter_cluster_state_synced"
	ClusterStateUnsynced = "karpenter_cluster_state_unsynced_time_seconds"

	DisruptionDecisions         = "karpenter_voluntary_disruption_decisions_total"
	DisruptionDecisionsByPool   = "karpenter_voluntary_disruption_decisions_by_nodepool_total"
	DisruptionEvaluation        = "karpenter_voluntary_disruption_decision_evaluation_duration_seconds"
	DisruptionEligibleNodes     = "karpenter_voluntary_disruption_eligible_nodes"
	DisruptionTimeouts          = "karpenter_voluntary_disruption_consolidation_timeouts_total"
	DisruptionFailedValidations = "karpenter_voluntary_disruption_failed_validations_total"
	DisruptionQueueFailures     = "karpenter_voluntary_disruption_queue_failures_total"
	ConsolidationScore          = "karpenter_consolidation_score"
	ConsolidationMoves          = "karpenter_consolidation_moves_total"

	CloudDuration = "karpenter_cloudprovider_duration_seconds"
	CloudErrors   = "karpenter_cloudprovider_errors_total"

	TypeCPU             = "karpenter_cloudprovider_instance_type_cpu_cores"
	TypeMemory          = "karpenter_cloudprovider_instance_type_memory_bytes"
	OfferingRefused     = "tenon_offering_refused_ratio"
	OfferingAvailable   = "karpenter_cloudprovider_instance_type_offering_available"
	OfferingPrice       = "karpenter_cloudprovider_instance_type_offering_price_estimate"
	LaunchFailures      = "karpenter_cloudprovider_instance_launch_failures_total"
	TerminationFailures = "karpenter_cloudprovider_instance_termination_failures_total"
	BatchTime           = "karpenter_cloudprovider_batcher_batch_time_seconds"
	BatchSize           = "karpenter_cloudprovider_batcher_batch_size"

	InterruptionReceived  = "karpenter_interruption_received_messages_total"
	InterruptionDeleted   = "karpenter_interruption_deleted_messages_total"
	InterruptionUnhealthy = "karpenter_interruption_instance_status_unhealthy_total"
	InterruptionQueue     = "karpenter_interruption_message_queue_duration_seconds"
	UserDataBytes         = "karpenter_ec2nodeclasses_userdata_bytes"

	DroppedSeries = "tenon_metrics_dropped_series_total"
	TracedPods    = "tenon_traced_pods_total"
	Panics        = "tenon_panics_total"
	ClockAhead    = "tenon_clock_ahead_seconds"

	SDKRequests     = "aws_sdk_go_request_total"
	SDKRequestTime  = "aws_sdk_go_request_duration_seconds"
	SDKRetries      = "aws_sdk_go_request_retry_count"
	SDKAttempts     = "aws_sdk_go_request_attempt_total"
	SDKAttemptTime  = "aws_sdk_go_request_attempt_duration_seconds"
	KubeRequests    = "client_go_request_total"
	KubeRequestTime = "client_go_request_duration_seconds"

	ClusterPrice   = "tenon_cluster_hourly_price"
	ClusterNodes   = "tenon_cluster_nodes"
	PendingPods    = "tenon_pending_pods"
	PendingLongest = "tenon_pending_pods_longest_seconds"

	ConsolidationSavings = "tenon_consolidation_hourly_savings"
	ConsolidationBound   = "tenon_consolidation_hourly_bound"

	ShadowNodes = "tenon_shadow_nodes"
	ShadowPrice = "tenon_shadow_hourly_price"
)

// A ConditionMetric is one of the metrics that every kind with status
// conditions has.
type ConditionMetric string

// The metrics of status conditions and of deletion.
const (
	ConditionCount         ConditionMetric = "status_condition_count"
	ConditionCurrent       ConditionMetric = "status_condition_current_status_seconds"
	ConditionTransitions   ConditionMetric = "status_condition_transitions_total"
	ConditionTransitionDur ConditionMetric = "status_condition_transition_seconds"
	TerminationCurrent     ConditionMetric = "termination_current_time_seconds"
	TerminationDuration    ConditionMetric = "termination_duration_seconds"
)

// ConditionKinds are the kinds that have metrics of their conditions.
func ConditionKinds() []string {
	return []string{"capacitybuffer", "ec2nodeclass", "node", "nodeclaim", "nodepool"}
}

// Of is the name of the metric for one kind, in lower case, or the name that
// serves all kinds for "".
func (m ConditionMetric) Of(kind string) string {
	if kind == "" {
		return "operator_" + string(m)
	}
	return "operator_" + kind + "_" + string(m)
}

func process() []Metric {
	return []Metric{
		{Name: BuildInfo, Kind: Gauge, Stage: Stable, Help: "Always 1; the labels say which build is running.", Labels: []string{"version", "goversion", "goarch", "commit"}},
		{Name: ClusterStateNodes, Kind: Gauge, Stage: Stable, Help: "Nodes in the state of the cluster.", Seeds: once()},
		{Name: ClusterStateSynced, Kind: Gauge, Stage: Stable, Help: "1 when the state of the cluster is complete, else 0; nothing is decided on an incomplete one.", Seeds: once()},
		{Name: ClusterStateUnsynced, Kind: Gauge, Stage: Stable, Help: "How long the state of the cluster has been incomplete.", Seeds: once()},
		{Name: ClusterPrice, Kind: Gauge, Stage: Alpha, Help: "What the nodes cost an hour, as far as prices are known: of price as they are sold, of on_demand if all were bought on demand.", Labels: []string{"of"}},
		{Name: ClusterNodes, Kind: Gauge, Stage: Alpha, Help: "Nodes by state: ready, not_ready, coming (bought and not there yet), going (being given back).", Labels: []string{"state"}},
		{Name: PendingPods, Kind: Gauge, Stage: Alpha, Help: "Pods without a node, with those that wait for their scheduling gates."},
		{Name: PendingLongest, Kind: Gauge, Stage: Alpha, Help: "Age of the pod that has been pending longest; 0 if none is."},
		{Name: ShadowNodes, Kind: Gauge, Stage: Alpha, Help: "In shadow mode, nodes of pools: with side=\"cluster\" those there are, with side=\"anew\" those that would be bought for all of their pods if there were none.", Labels: []string{"side"}},
		{Name: ShadowPrice, Kind: Gauge, Stage: Alpha, Help: "In shadow mode, what these nodes cost an hour.", Labels: []string{"side"}},
		{Name: ClusterUtilization, Kind: Gauge, Stage: Alpha, Help: "Share of the allocatable amount that pods request, in percent.", Labels: []string{"resource_type"}, PerObject: true, Max: MaxSeries},
	}
}

func claims() []Metric {
	return []Metric{
		{Name: ClaimsCreated, Kind: Counter, Stage: Stable, Help: "Claims created.", Labels: []string{"reason", "nodepool", "min_values_relaxed"}},
		{Name: ClaimsTerminated, Kind: Counter, Stage: Stable, Help: "Claims whose machine is gone.", Labels: []string{"nodepool", "capacity_type", "zone"}},
		{Name: ClaimsDisrupted, Kind: Counter, Stage: Alpha, Help: "Claims deleted by a decision of tenon.", Labels: disrupted()},
		{Name: ClaimsUnhealthyDisrupted, Kind: Counter, Stage: Alpha, Help: "Claims deleted because their node was unhealthy.", Labels: []string{"condition", "nodepool", "capacity_type", "image_id"}},
		{Name: ClaimsTerminationDuration, Kind: Histogram, Stage: Beta, Help: "From the deletion of a claim to its end.", Labels: []string{"nodepool"}, Buckets: doubling(12)},
		{Name: ClaimsInstanceTerminationDuration, Kind: Histogram, Stage: Beta, Help: "From the call that terminates a machine to its end.", Labels: []string{"nodepool"}, Buckets: doubling(11)},
	}
}

// disrupted are the labels of what was done to a node by decision.
func disrupted() []string {
	return []string{"reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"}
}

func nodes(nodeLabels []string) []Metric {
	perNode := slices.Concat(nodeLabels, []string{"managed", "node_name", "phase"})
	perResource := slices.Concat(perNode, []string{"resource_type"})
	amount := func(name, help string) Metric {
		return Metric{Name: name, Kind: Gauge, Stage: Beta, Help: help, Labels: perResource, PerObject: true, Max: manySeries}
	}
	return []Metric{
		{Name: NodesCreated, Kind: Counter, Stage: Stable, Help: "Nodes that registered for a claim.", Labels: []string{"nodepool", "zone"}},
		{Name: NodesTerminated, Kind: Counter, Stage: Stable, Help: "Nodes of claims that are gone.", Labels: []string{"nodepool", "zone"}},
		{Name: NodesDrained, Kind: Counter, Stage: Alpha, Help: "Nodes that were drained to the end.", Labels: []string{"nodepool"}},
		{Name: NodesTerminationDuration, Kind: Summary, Stage: Beta, Help: "From the deletion of a node to its end.", Labels: []string{"nodepool"}},
		{Name: NodesLifetimeDuration, Kind: Histogram, Stage: Alpha, Help: "How long nodes lived.", Labels: []string{"nodepool"}, Buckets: lifetimes()},
		amount(NodesAllocatable, "What the node offers to pods."),
		amount(NodesPodRequests, "What the pods of the node request, without those of DaemonSets."),
		amount(NodesDaemonRequests, "What the DaemonSet pods of the node request."),
		amount(NodesPodLimits, "What the pods of the node may use at most, those of DaemonSets included. Of a resource that no pod limits there is no series."),
		amount(NodesDaemonLimits, "What the DaemonSet pods of the node may use at most."),
		amount(NodesSystemOverhead, "Capacity less allocatable: what the node keeps for itself."),
		{Name: NodesCurrentLifetime, Kind: Gauge, Stage: Alpha, Help: "Age of the node.", Labels: perNode, PerObject: true, Max: manySeries},
	}
}

func pools() []Metric {
	return []Metric{
		{Name: PoolsLimit, Kind: Gauge, Stage: Alpha, Help: "What the pool may use at most.", Labels: []string{"resource_type", "nodepool"}, PerObject: true, Max: manySeries},
		{Name: PoolsUsage, Kind: Gauge, Stage: Alpha, Help: "What the pool uses.", Labels: []string{"resource_type", "nodepool"}, PerObject: true, Max: manySeries},
		{Name: PoolsCost, Kind: Gauge, Stage: Alpha, Help: "What the nodes of the pool cost, in dollars per hour, as far as prices are known.", Labels: []string{"nodepool"}, PerObject: true, Max: manySeries},
		{Name: PoolsCostErrors, Kind: Counter, Stage: Alpha, Help: "Nodes met whose price was not known.", Labels: []string{"nodepool"}},
		{Name: PoolsAllowedDisruptions, Kind: Gauge, Stage: Alpha, Help: "Nodes of the pool that budgets allow to be disrupted now.", Labels: []string{"nodepool", "reason"}, PerObject: true, Max: manySeries},
		{Name: PoolsConsumingBudgets, Kind: Gauge, Stage: Alpha, Help: "Nodes of the pool that count against its budgets now.", Labels: []string{"nodepool", "reason"}, PerObject: true, Max: manySeries},
	}
}

func pods() []Metric {
	one := []string{"name", "namespace"}
	pod := func(name, help string) Metric {
		return Metric{Name: name, Kind: Gauge, Stage: Alpha, Help: help, Labels: one, PerObject: true, Max: manySeries}
	}
	took := func(name, help string) Metric {
		return Metric{Name: name, Kind: Histogram, Stage: Alpha, Help: help, Buckets: durations()}
	}
	return []Metric{
		{
			Name: PodsState, Kind: Gauge, Stage: Beta, Help: "Always 1 for a pod that is not done; the labels say where it is and how it is. Its owner is named if that is a DaemonSet.", PerObject: true, Max: manySeries,
			Labels: []string{"name", "namespace", "owner", "node", "scheduled", "nodepool", "zone", "arch", "capacity_type", "instance_type", "phase", "ready", "managed"},
		},
		{Name: PodsStartupDuration, Kind: Summary, Stage: Stable, Help: "From the creation of a pod to its running."},
		took(PodsBoundDuration, "From the creation of a pod to its binding."),
		pod(PodsUnstartedTime, "How long the pod has been waiting to run."),
		pod(PodsUnboundTime, "How long the pod has been waiting for a node."),
		took(PodsProvisioningBoundDuration, "From the moment tenon saw a pod to its binding."),
		took(PodsProvisioningStartupDuration, "From the moment tenon saw a pod to its running."),
		pod(PodsProvisioningUnboundTime, "How long the pod has been waiting for a node since tenon saw it."),
		pod(PodsProvisioningUnstartedTime, "How long the pod has been waiting to run since tenon saw it."),
		pod(PodsProvisioningUndecidedTime, "How long the pod has been waiting for its first verdict."),
		took(PodsDecisionDuration, "From the moment tenon saw a pod to its first verdict."),
		{Name: PodsEvictionRequests, Kind: Counter, Stage: Alpha, Help: "Calls that evict a pod, by the status they were answered with.", Labels: []string{"code"}},
		{Name: PodsDrained, Kind: Counter, Stage: Alpha, Help: "Pods that left a node that was being drained.", Labels: []string{"reason"}},
		{Name: PodsDisruptionInitiated, Kind: Counter, Stage: Alpha, Help: "Pods that move from nodes whose disruption began.", Labels: disrupted()},
	}
}

func scheduling() []Metric {
	by := []string{"controller"}
	return []Metric{
		{Name: SchedulingDuration, Kind: Histogram, Stage: Stable, Help: "How long one decision took.", Labels: by, Buckets: durations()},
		{Name: SchedulerUnfinished, Kind: Gauge, Stage: Alpha, Help: "How long a decision that is being made has taken until now; scheduling_id is the digest of the World it is made of.", Labels: []string{"controller", "scheduling_id"}, PerObject: true, Max: MaxSeries},
		{Name: SchedulerQueueDepth, Kind: Gauge, Stage: Beta, Help: "Pods still to be decided in a running decision.", Labels: []string{"controller", "scheduling_id"}},
		{Name: SchedulerIgnoredPods, Kind: Gauge, Stage: Alpha, Help: "Pending pods that are not tenon's to find a place for.", Seeds: once()},
		{Name: SchedulerUnschedulable, Kind: Gauge, Stage: Alpha, Help: "Pods refused by the last decision.", Labels: by},
		{Name: SchedulerPendingByZone, Kind: Gauge, Stage: Alpha, Help: "Pending pods by the zone they are bound to, if any.", Labels: []string{"controller", "zone"}, PerObject: true, Max: MaxSeries},
	}
}

func disruption() []Metric {
	decision := []string{"decision", "reason", "consolidation_type"}
	return []Metric{
		{Name: DisruptionDecisions, Kind: Counter, Stage: Stable, Help: "Decisions to give nodes back.", Labels: decision},
		{Name: DisruptionDecisionsByPool, Kind: Counter, Stage: Alpha, Help: "Decisions to give nodes back, by pool.", Labels: slices.Concat(decision, []string{"nodepool"})},
		{Name: DisruptionEvaluation, Kind: Histogram, Stage: Beta, Help: "How long it took to look for nodes to give back.", Labels: []string{"reason", "consolidation_type"}, Buckets: durations()},
		{Name: DisruptionEligibleNodes, Kind: Gauge, Stage: Beta, Help: "Nodes that might be given back.", Labels: []string{"reason"}},
		{Name: DisruptionTimeouts, Kind: Counter, Stage: Beta, Help: "Searches that ran out of time: none does.", Labels: []string{"consolidation_type"}, Seeds: [][]string{{"multi"}, {"single"}}},
		{Name: DisruptionFailedValidations, Kind: Counter, Stage: Alpha, Help: "Decisions given up because the cluster had changed meanwhile.", Labels: []string{"consolidation_type"}},
		{Name: DisruptionQueueFailures, Kind: Counter, Stage: Beta, Help: "Decisions that could not be carried out.", Labels: decision},
		{Name: ConsolidationSavings, Kind: Gauge, Stage: Alpha, Help: "What moves would save an hour, by the last decision that looked for them: of state now those that may begin, of state held those that something holds up.", Labels: []string{"state"}},
		{Name: ConsolidationBound, Kind: Gauge, Stage: Alpha, Help: "What the pods that can move would cost an hour at least, on new nodes alone, by the last decision that looked for moves; 0 if nothing is proven."},
		{Name: ConsolidationScore, Kind: Histogram, Stage: Alpha, Help: "Savings of a move of a balanced pool against what it disrupts.", Labels: []string{"decision", "nodepool", "policy"}, Buckets: []float64{.1, .25, .33, .5, 1, 2, 5, 10}},
		{Name: ConsolidationMoves, Kind: Counter, Stage: Alpha, Help: "Moves of consolidation that begin, or that a balanced pool refuses for their score.", Labels: []string{"decision", "nodepool", "policy"}},
	}
}

func cloud() []Metric {
	call := []string{"controller", "method", "provider"}
	return []Metric{
		{Name: CloudDuration, Kind: Histogram, Stage: Beta, Help: "How long calls to the cloud took.", Labels: call, Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}},
		{Name: CloudErrors, Kind: Counter, Stage: Beta, Help: "Calls to the cloud that ended in an error, by its code.", Labels: slices.Concat(call, []string{"error"})},
	}
}

func aws() []Metric {
	const manyOffers = 50_000
	offer := []string{"instance_type", "zone", "capacity_type"}
	return []Metric{
		{Name: TypeCPU, Kind: Gauge, Stage: Beta, Help: "Processors of the instance type.", Labels: []string{"instance_type"}, PerObject: true, Max: manyOffers},
		{Name: TypeMemory, Kind: Gauge, Stage: Beta, Help: "Memory of the instance type.", Labels: []string{"instance_type"}, PerObject: true, Max: manyOffers},
		{Name: OfferingAvailable, Kind: Gauge, Stage: Beta, Help: "1 when the offering is believed to be available, else 0.", Labels: offer, PerObject: true, Max: manyOffers},
		{Name: OfferingRefused, Kind: Gauge, Stage: Alpha, Help: "Share of recent requests for the offering that were refused, from 0 to 1, as plans reckon with it; offerings that were not refused have no series.", Labels: offer, PerObject: true, Max: manyOffers},
		{Name: OfferingPrice, Kind: Gauge, Stage: Beta, Help: "Price of the offering, in dollars per hour.", Labels: offer, PerObject: true, Max: manyOffers},
		{Name: LaunchFailures, Kind: Counter, Stage: Alpha, Help: "Offers that gave no machine, by EC2's reason. What refuses a request as a whole names no zone.", Labels: []string{"zone", "zone_id", "capacity_type", "reason"}},
		{Name: TerminationFailures, Kind: Counter, Stage: Alpha, Help: "Machines that could not be terminated.", Labels: []string{"zone", "zone_id"}},
		{Name: BatchTime, Kind: Histogram, Stage: Alpha, Help: "How long calls waited to be sent as one.", Labels: []string{"batcher"}, Buckets: durations()},
		{Name: BatchSize, Kind: Histogram, Stage: Alpha, Help: "How many machines were asked for, or ended, by one call.", Labels: []string{"batcher"}, Buckets: []float64{1, 2, 4, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100, 125, 150, 175, 200, 225, 250, 275, 300, 350, 400, 450, 500, 550, 600, 700, 800, 900, 1000}},
		{Name: InterruptionReceived, Kind: Counter, Stage: Stable, Help: "Notices received, by what they announce.", Labels: []string{"message_type"}},
		{Name: InterruptionDeleted, Kind: Counter, Stage: Stable, Help: "Notices handled and taken off the queue."},
		{Name: InterruptionUnhealthy, Kind: Counter, Stage: Alpha, Help: "Instances whose status checks failed, by the check.", Labels: []string{"category"}},
		{Name: InterruptionQueue, Kind: Histogram, Stage: Stable, Help: "How long notices were on the queue.", Buckets: durations()},
		{Name: UserDataBytes, Kind: Gauge, Stage: Alpha, Help: "Size of the user data that was made last for a machine of the class, of which AWS takes 16384 bytes.", Labels: []string{"nodeclass"}, PerObject: true, Max: MaxSeries},
	}
}

// calls are the metrics of what is sent, under the names of the libraries that send it.
func calls() []Metric {
	sdk := []string{"service", "action", "code"}
	sdkTime, kubeTime := growing(0.01, 1.5, 20), growing(0.001, 1.5, 20)
	return []Metric{
		{Name: SDKRequests, Kind: Counter, Stage: Alpha, Help: "Requests to AWS, by the status of the last answer; 0 if there was none.", Labels: sdk},
		{Name: SDKRequestTime, Kind: Histogram, Stage: Alpha, Help: "How long requests to AWS took, with all their attempts.", Labels: sdk, Buckets: sdkTime},
		{Name: SDKRetries, Kind: Histogram, Stage: Alpha, Help: "Attempts of requests to AWS after the first.", Labels: sdk, Buckets: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{Name: SDKAttempts, Kind: Counter, Stage: Alpha, Help: "Attempts of requests to AWS, by the status of the answer; 0 if there was none.", Labels: sdk},
		{Name: SDKAttemptTime, Kind: Histogram, Stage: Alpha, Help: "How long attempts of requests to AWS took.", Labels: sdk, Buckets: sdkTime},
		{Name: KubeRequests, Kind: Counter, Stage: Alpha, Help: "Requests to the API server, by the status of the answer.", Labels: []string{"code", "method"}},
		{Name: KubeRequestTime, Kind: Histogram, Stage: Alpha, Help: "How long requests to the API server took that are no watches.", Labels: []string{"verb", "group", "version", "kind", "subresource"}, Buckets: kubeTime},
	}
}

// conditions are the metrics of status conditions, for each kind and, as they
// were once, for all kinds together.
func conditions() []Metric {
	// What kinds add to the labels that all have: labels of their objects, as Karpenter writes them.
	const class, pool, initialized = "karpenter_k8s_aws_ec2nodeclass", "karpenter_sh_nodepool", "karpenter_sh_initialized"
	extra := map[string][]string{"node": {class, pool, initialized}, "nodeclaim": {class, pool}}
	transitions := growing(0.5, 2, 15) // seconds to hours
	var all []Metric
	for _, kind := range append(ConditionKinds(), "") {
		object, stage, dur := []string{"namespace", "name"}, Beta, []string{"namespace", "name"}
		own := extra[kind]
		if kind == "" {
			stage, own = Deprecated, []string{"group", "kind"}
		}
		status := slices.Concat(object, []string{"type", "status", "reason"}, own)
		all = append(all,
			Metric{Name: ConditionCount.Of(kind), Kind: Gauge, Stage: stage, Help: "Objects with the condition in this status.", Labels: status, PerObject: true, Max: manySeries},
			Metric{Name: ConditionCurrent.Of(kind), Kind: Gauge, Stage: stage, Help: "How long the condition has been in this status.", Labels: status, PerObject: true, Max: manySeries},
			Metric{Name: ConditionTransitions.Of(kind), Kind: Counter, Stage: stage, Help: "Changes of the condition to this status.", Labels: slices.Concat([]string{"type", "status", "reason"}, own)},
			Metric{Name: ConditionTransitionDur.Of(kind), Kind: Histogram, Stage: stage, Help: "How long the condition was in the status it left.", Labels: slices.Concat([]string{"type", "status"}, own), Buckets: transitions},
			Metric{Name: TerminationCurrent.Of(kind), Kind: Gauge, Stage: stage, Help: "How long the object has been being deleted.", Labels: slices.Concat(dur, own), PerObject: true, Max: manySeries},
			Metric{Name: TerminationDuration.Of(kind), Kind: Histogram, Stage: stage, Help: "From the deletion of an object to its end.", Labels: own, Buckets: transitions},
		)
	}
	return all
}

func tenon() []Metric {
	return []Metric{
		{Name: DroppedSeries, Kind: Counter, Stage: Stable, Help: "Series left out because their metric had its maximum already; a number that grows is a bug to report.", Labels: []string{"metric"}},
		{Name: ClockAhead, Kind: Gauge, Stage: Stable, Help: "By how much the clock of the controller's machine was ahead of the API server's when it began, if that is more than a minute; it is negative if it was behind. The API server's time is followed.", Seeds: once()},
		{Name: TracedPods, Kind: Counter, Stage: Alpha, Help: "Pods that came to run and whose spans were sent, could not be sent (failed), were in a request of which the collector refused some (partly), or were left out since too many waited to be sent (dropped). There is none without OTEL_EXPORTER_OTLP_ENDPOINT.", Labels: []string{"result"}},
		{Name: Panics, Kind: Counter, Stage: Stable, Help: "Bugs of Tenon's own code that broke the look at one object, or one decision, and were caught; the log has each with its stack. A number that grows is a bug to report.", Labels: []string{"where"}},
	}
}

// once seeds a metric without labels.
func once() [][]string { return [][]string{{}} }
