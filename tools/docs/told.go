package main

// An event is what users should know of one.
type event struct{ kind, of, say string }

// eventsToTell are the events, by reason.
func eventsToTell() map[string]event {
	const node, claim, pod = "Node", "NodeClaim", "Pod"
	return map[string]event{
		"Nominated":                              {"Normal", pod, "The pod is expected on this claim or node."},
		"FailedScheduling":                       {"Warning", pod, "No node and no node that may be made takes the pod; every pool and its reason is named. `tenon plan` says the same at length, with what would change it."},
		"InsufficientCapacityError":              {"Warning", claim, "AWS had none of the types in any zone that was open. The pods are planned anew, without those. Open more types or zones if it lasts."},
		"NodeClassNotReady":                      {"Warning", claim, "The class could not be used when the machine was ordered; its conditions say why."},
		"UnregisteredTaintMissing":               {"Warning", claim, "The node joined without the taint that keeps pods off until it is matched to its claim. User data of your own should have the kubelet register with `karpenter.sh/unregistered:NoExecute`."},
		"FailedConsistencyCheck":                 {"Warning", claim, "The node is not what was ordered (less of a resource, a taint missing). Look at its image and user data."},
		"DisruptionTerminating":                  {"Normal", claim, "The node is given back; the message ends with the reason."},
		"DisruptionBlocked":                      {"Normal", "NodePool, Node, NodeClaim", "Nodes could be given back and stay: the pool's budgets let none go now, or an annotation on the empty node or a daemon's pod forbids it."},
		"Evicted":                                {"Normal", pod, "The pod was asked to leave because its node goes."},
		"Disrupted":                              {"Normal", pod, "The pod was deleted because its node's time is over: `terminationGracePeriod` was set. Disruption budgets were passed over."},
		"FailedDraining":                         {"Warning", node, "Pods do not leave: a PodDisruptionBudget or `karpenter.sh/do-not-disrupt` holds them. The message counts or names them."},
		"TerminationGracePeriodExpiring":         {"Warning", "Node, NodeClaim", "When all pods that are left will be deleted."},
		"AwaitingVolumeDetachment":               {"Normal", node, "The node is drained and waits for its volumes to come off."},
		"NodeRepairBlocked":                      {"Warning", "Node", "More than a fifth of the pool's nodes are unhealthy, so none is replaced: look for a common cause."},
		"WaitingOnNodeClaimTermination":          {"Normal", "EC2NodeClass", "The class is deleted when the claims that use it are gone. Delete their pools."},
		"TerminatingOnInterruption":              {"Warning", "NodeClaim, Node", "AWS announced the machine's end; the node is drained now."},
		"SpotInterrupted":                        {"Warning", "NodeClaim, Node", "AWS takes the spot machine back in two minutes."},
		"SpotRebalanceRecommendation":            {"Warning", "NodeClaim, Node", "AWS may take the spot machine back soon. Nothing is done about it."},
		"InstanceUnhealthy":                      {"Warning", "NodeClaim, Node", "AWS announced maintenance of the machine or its host; the node is drained now."},
		"InstanceStopping":                       {"Warning", "NodeClaim, Node", "Someone stops the instance."},
		"InstanceTerminating":                    {"Warning", "NodeClaim, Node", "Someone ends the instance."},
		"CapacityReservationInstanceInterrupted": {"Warning", "NodeClaim, Node", "The capacity reservation wants its machine back."},
	}
}

// conditionsToTell are the conditions and their reasons.
func conditionsToTell() map[string]string {
	return map[string]string{
		"Ready": "All conditions that make it up are True.",

		"ValidationSucceeded":     "The object's fields make sense together, and for a class that AWS accepts trial calls with them.",
		"NodeClassReady":          "The pool's class exists and is ready.",
		"NodeRegistrationHealthy": "Nodes of this generation of the pool have joined; False after several did not, Unknown before.",
		"Launched":                "The machine is bought.",
		"Registered":              "The node joined and was matched to its claim.",
		"Initialized":             "The node is Ready, its startup taints are off, its resources are there. Pods may be counted on it.",
		"Consolidatable":          "No pod came or went for `consolidateAfter`.",
		"Drifted":                 "The pool, its class or its image changed since. Nothing is done about it yet.",
		"DisruptionReason":        "Why the node is given back.",
		"ConsistentStateFound":    "The node is what was ordered.",
		"Drained":                 "No pod is left that has to leave.",
		"VolumesDetached":         "No volume is left on the node.",
		"InstanceTerminating":     "The machine is being ended.",

		"NodePoolValidationFailed":      "The message names the field. Correct it; until then the pool is left out of plans.",
		"NodeClassNotFound":             "Create the class, or correct `nodeClassRef`.",
		"NodeClassTerminating":          "The class is being deleted. Name another one.",
		"NodeClassReadinessUnknown":     "The class has not been resolved yet. Wait; if it lasts look at the class and the controller's log.",
		"RegistrationFailed":            "Machines start and do not join. Look at the instance's console: role not admitted to the cluster, no way to the API server, user data.",
		"LaunchFailed":                  "AWS refused the order; the message is AWS'. The launch is tried again, or given up after 5 minutes.",
		"NodeNotFound":                  "The machine runs and its node has not joined. After 15 minutes the claim is given up.",
		"MultipleNodesFound":            "Two nodes have the same provider id. Delete the one that is stale.",
		"NodeNotReady":                  "The kubelet is not ready: often the CNI. `kubectl describe node` says more.",
		"StartupTaintsExist":            "Something has to take off the startup taint that the message names.",
		"KnownEphemeralTaintsExist":     "Kubernetes' own taint of young nodes is still there; the cloud controller manager or the kubelet takes it off.",
		"ResourceNotRegistered":         "A device plugin has not reported the resource that the message names.",
		"ConsistencyCheckFailed":        "The node is not what was ordered; the message says in what.",
		"Draining":                      "Pods are leaving.",
		"AwaitingVolumeDetachment":      "Volumes are coming off.",
		"TerminationGracePeriodElapsed": "The time was over and the rest was not waited for.",
		"NodePoolDrifted":               "The pool's template changed.",
		"RequirementsDrifted":           "The node no longer meets the pool's requirements.",
		"InstanceTypeNotFound":          "The type is no longer sold to this pool.",

		"SubnetsReady":              "Subnets were found.",
		"SecurityGroupsReady":       "Security groups were found.",
		"AMIsReady":                 "Images were found.",
		"PlacementGroupReady":       "The placement group was found, or none is asked for.",
		"CapacityReservationsReady": "Reservations were looked up.",
		"InstanceProfileReady":      "The instance profile exists with its role.",

		"SubnetsNotFound":                 "No subnet meets a term. Check tags and region; `tenon doctor` lists what there is.",
		"SecurityGroupsNotFound":          "No security group meets a term. Check tags and VPC.",
		"AMINotFound":                     "No image meets a term, or none for this architecture and Kubernetes version.",
		"PlacementGroupResolutionFailed":  "The placement group could not be looked up.",
		"InvalidKubeletConfiguration":     "The message names the setting of `spec.kubelet`.",
		"UnsupportedKubeletConfiguration": "The image family cannot hand on that setting. Remove it or take AL2023.",
		"TagValidationFailed":             "A tag that the controller sets itself. Remove it from `spec.tags`.",
		"UserDataSizeLimitExceeded":       "EC2 takes 16 KB of user data.",
		"DryRunDisabled":                  "Trial calls are switched off by `settings.disableDryRun`; nothing was tried.",

		"NodeClassDrift":     "The class changed since the machine was made.",
		"AMIDrift":           "The class selects another image today.",
		"SubnetDrift":        "The class no longer selects the machine's subnet.",
		"SecurityGroupDrift": "The class selects other security groups today.",

		"Consolidation":      "On a NodePool or Provisioner that asks for more than is done: False.",
		"OnlyEmptyNodes":     "Empty nodes are given back; moving pods to cheaper nodes is accepted and not done yet.",
		"ProvisionerInvalid": "The message names the field of the Provisioner.",
		"Active":             "Of a Provisioner: whether it is used.",
	}
}

// labelsToTell are the names whose constants speak for themselves in the code.
func labelsToTell() map[string]string {
	return map[string]string{
		"karpenter.k8s.aws/termination":                              "on classes",
		"karpenter.k8s.aws/instance-pods":                            "how many pods the type can have by its network interfaces",
		"karpenter.k8s.aws/instance-accelerator-manufacturer":        "such as aws",
		"karpenter.k8s.aws/instance-capability-flex":                 "true or false: whether it is a flex type",
		"karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz":   "MHz",
		"karpenter.k8s.aws/instance-tenancy":                         "default or dedicated",
		"karpenter.k8s.aws/capacity-reservation-type":                "default or capacity-block",
		"node.kubernetes.io/windows-build":                           "such as 10.0.20348",
		"karpenter.k8s.aws/instance-profile-name":                    "the instance profile of the claim's machine",
		"karpenter.sh/order-size":                                    "how many machines the order is for",
		"topology.kubernetes.io/zone":                                "the zone, such as eu-central-1a",
		"topology.kubernetes.io/region":                              "the region",
		"topology.k8s.aws/zone-id":                                   "the zone's name that is the same in all accounts, such as euc1-az2",
		"node.kubernetes.io/instance-type":                           "the instance type, such as m5.large",
		"kubernetes.io/arch":                                         "amd64 or arm64",
		"kubernetes.io/os":                                           "linux or windows",
		"kubernetes.io/hostname":                                     "the node's own name",
		"karpenter.k8s.aws/instance-category":                        "the letters before the generation: m of m5.large",
		"karpenter.k8s.aws/instance-family":                          "what stands before the point: m5 of m5.large",
		"karpenter.k8s.aws/instance-generation":                      "the number: 5 of m5.large",
		"karpenter.k8s.aws/instance-size":                            "what stands after the point: large of m5.large",
		"karpenter.k8s.aws/instance-cpu":                             "virtual CPUs",
		"karpenter.k8s.aws/instance-cpu-manufacturer":                "intel, amd or aws",
		"karpenter.k8s.aws/instance-memory":                          "MiB of memory",
		"karpenter.k8s.aws/instance-ebs-bandwidth":                   "Mbit/s to EBS, at most",
		"karpenter.k8s.aws/instance-network-bandwidth":               "Mbit/s, baseline",
		"karpenter.k8s.aws/instance-local-nvme":                      "GiB of local disks",
		"karpenter.k8s.aws/instance-hypervisor":                      "nitro, xen, or empty for metal",
		"karpenter.k8s.aws/instance-encryption-in-transit-supported": "true or false",
		"karpenter.k8s.aws/instance-gpu-name":                        "such as a10g",
		"karpenter.k8s.aws/instance-gpu-count":                       "number of GPUs",
		"karpenter.k8s.aws/instance-gpu-memory":                      "MiB of one GPU",
		"karpenter.k8s.aws/instance-gpu-manufacturer":                "nvidia or amd",
		"karpenter.k8s.aws/instance-accelerator-name":                "such as inferentia",
		"karpenter.k8s.aws/instance-accelerator-count":               "number of accelerators",
		"karpenter.k8s.aws/ec2nodeclass":                             "the EC2NodeClass a claim or node belongs to",
		"karpenter.k8s.aws/capacity-reservation-id":                  "the reservation a node uses",
	}
}
