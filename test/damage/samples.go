package damage

// manifests are objects of a cluster that `tenon plan` reads.
const manifests = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
spec:
  weight: 10
  limits: {cpu: 1k, memory: 1000Gi, nodes: "5"}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 30s
    budgets: [{nodes: 10%}, {nodes: "0", schedule: "0 9 * * mon-fri", duration: 8h, reasons: [Drifted]}]
  template:
    metadata: {labels: {team: a}, annotations: {b: c}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      expireAfter: 720h
      terminationGracePeriod: 1h
      taints: [{key: a.b/c, value: d, effect: NoSchedule}]
      startupTaints: [{key: e, effect: NoExecute}]
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["3"]}
      - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, c5.large], minValues: 2}
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: old}
spec:
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
  limits: {resources: {cpu: 1000, memory: 1Ti}}
  ttlSecondsAfterEmpty: 30
  ttlSecondsUntilExpired: 2592000
  providerRef: {name: default}
  kubeletConfiguration: {maxPods: 20, systemReserved: {cpu: 100m}, clusterDNS: [10.0.0.10]}
  labels: {a: b}
  weight: 5
---
apiVersion: v1
kind: Node
metadata:
  name: node-1
  creationTimestamp: "2025-06-01T00:00:00Z"
  labels: {karpenter.sh/nodepool: general, topology.kubernetes.io/zone: us-east-1a, node.kubernetes.io/instance-type: m5.large, kubernetes.io/hostname: node-1}
spec: {providerID: "aws:///us-east-1a/i-1", taints: [{key: x, effect: NoSchedule}]}
status:
  allocatable: {cpu: 1930m, memory: 7Gi, pods: "29"}
  capacity: {cpu: "2", memory: 8Gi, pods: "29"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: general-abcde, labels: {karpenter.sh/nodepool: general}, annotations: {tenon.sh/pods: default/p}}
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]
  resources: {requests: {cpu: "1"}}
  expireAfter: Never
status: {providerID: "aws:///us-east-1a/i-1", nodeName: node-1, capacity: {cpu: "2"}, allocatable: {cpu: 1930m}, conditions: [{type: Launched, status: "True", reason: Launched, lastTransitionTime: "2025-06-01T00:00:00Z"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default, labels: {app: p}, annotations: {karpenter.sh/do-not-disrupt: "true"}}
spec:
  nodeName: node-1
  priority: 5
  tolerations: [{key: x, operator: Exists}]
  containers: [{name: a, resources: {requests: {cpu: 250m, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}, ports: [{containerPort: 80, hostPort: 80}]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]
      affinity:
        podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}}]}
        nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}
      volumes: [{name: v, persistentVolumeClaim: {claimName: v}}]
      containers: [{name: web, resources: {requests: {cpu: "1", memory: 1.5Gi}}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  volumeClaimTemplates: [{metadata: {name: d}, spec: {storageClassName: gp3, accessModes: [ReadWriteOnce]}}]
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, resources: {requests: {cpu: "2"}}}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {tolerations: [{operator: Exists}], containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: v, namespace: default}, spec: {storageClassName: gp3, accessModes: [ReadWriteOnce], volumeName: v}}
- {apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}]}]}}}}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: gp3}, provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer, allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [us-east-1a]}]}]}
- {apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: node-1}, spec: {drivers: [{name: ebs.csi.aws.com, nodeID: i-1, allocatable: {count: 25}}]}}
- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: default}, spec: {minAvailable: 50%, selector: {matchLabels: {app: web}}}, status: {disruptionsAllowed: 1}}
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000, globalDefault: false}
- {apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: default}, spec: {limits: [{type: Container, default: {cpu: 1}, defaultRequest: {cpu: 500m}}]}}
- {apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {a: b}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: default}
spec: {parallelism: 2, completions: 4, template: {spec: {restartPolicy: Never, nodeSelector: {karpenter.sh/capacity-type: spot}, containers: [{name: j, resources: {requests: {cpu: 500m}}}]}}}
---
` + overlays

// waiting is a pod and where it may go.
const waiting = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec: {containers: [{name: a, resources: {requests: {cpu: "1"}}}]}
`

// types are a catalogue as other programs write it.
const types = `{"format":"tenon-catalog/v1","region":"us-east-1","zones":["us-east-1a","us-east-1b"],"currency":"USD/h","instanceTypes":[{"name":"m5.large","arch":"amd64","os":["linux"],"capacity":{"cpu":"2","memory":"8Gi","pods":"29"},"overhead":{"cpu":"70m","memory":"1Gi"},"labels":{"karpenter.k8s.aws/instance-cpu":"2"},"offerings":[{"zone":"us-east-1a","capacityType":"on-demand","price":0.096,"available":true},{"zone":"us-east-1b","capacityType":"spot","price":0.035},{"zone":"us-east-1a","capacityType":"reserved","price":0.01,"reservation":{"id":"cr-1","count":3}}]},{"name":"c5.large","capacity":{"cpu":"2","memory":"4Gi","pods":"29"},"offerings":[{"zone":"us-east-1a","capacityType":"on-demand","price":0.085}]}]}
`

// overlays are NodeOverlays.
const overlays = `apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: savings}
spec:
  weight: 10
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ["9"]}]
  priceAdjustment: "-28%"
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: fuse}
spec:
  requirements: [{key: karpenter.sh/nodepool, operator: In, values: [general]}]
  price: "0.07"
  capacity: {smarter-devices/fuse: "20", hugepages-2Mi: 1Gi}`

// classes are node classes of every era, and a buffer.
const classes = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default, generation: 3}
spec:
  role: KarpenterNodeRole-demo
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}, {id: subnet-1}]
  securityGroupSelectorTerms: [{name: sg}]
  capacityReservationSelectorTerms: [{id: cr-1}]
  blockDeviceMappings: [{deviceName: /dev/xvda, rootVolume: true, ebs: {volumeSize: 100Gi, volumeType: gp3, iops: 3000, throughput: 125, encrypted: true, kmsKeyID: k, snapshotID: snap-1, deleteOnTermination: true}}]
  metadataOptions: {httpEndpoint: enabled, httpTokens: required, httpPutResponseHopLimit: 1, httpProtocolIPv6: disabled}
  kubelet: {maxPods: 58, podsPerCore: 5, systemReserved: {cpu: 100m}, kubeReserved: {memory: 1Gi}, evictionHard: {memory.available: 5%}, evictionSoft: {memory.available: 10%}, evictionSoftGracePeriod: {memory.available: 1m30s}, clusterDNS: [10.0.0.10], cpuCFSQuota: false}
  userData: |
    #!/bin/sh
    echo hello
  tags: {team: a}
  instanceStorePolicy: RAID0
  detailedMonitoring: true
  associatePublicIPAddress: false
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec:
  amiFamily: Bottlerocket
  amiSelector: {aws-ids: "ami-1,ami-2"}
  subnetSelector: {karpenter.sh/discovery: demo}
  securityGroupSelector: {aws-ids: sg-1}
  instanceProfile: p
  userData: "[settings.kubernetes]\nmax-pods = 5\n"
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20Gi, volumeType: gp3, iops: 3000}}]
  metadataOptions: {httpTokens: optional}
  tags: {a: b}
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: inline}
spec:
  provider: {instanceProfile: p, subnetSelector: {a: b}, securityGroupSelector: {a: b}, tags: {c: d}}
  kubeletConfiguration: {maxPods: -1, evictionHard: {memory.available: 100Mi}}
  consolidation: {enabled: true}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: web, namespace: demo, labels: {a: b}}
spec: {podTemplateRef: {name: t}, replicas: 3, percentage: 20, limits: {cpu: "4", memory: 8Gi}, containers: [{name: a, resources: {requests: {cpu: 500m}}}]}`

// allocated are devices, and what asks for them.
const allocated = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
  annotations:
    karpenter.sh/devices: "[{driver: gpu.example.com, requirements: [{key: family, operator: In, values: [m5]}], devices: [{name: gpu-0, attributes: {model: {string: A}}, capacity: {memory: {value: 24Gi}}}]}]"
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].model == "A"'}}]}}]}}}
---
apiVersion: v1
kind: Node
metadata: {name: there, labels: {kubernetes.io/hostname: there}}
status: {capacity: {cpu: "8", memory: 32Gi, pods: "50"}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: there-gpu}
spec:
  driver: gpu.example.com
  nodeName: there
  pool: {name: there, generation: 1, resourceSliceCount: 1}
  devices:
    - {name: gpu-0, attributes: {model: {string: A}}}
    - {name: gpu-1, attributes: {model: {string: A}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: elsewhere}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status:
  allocation:
    nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [there]}]}]}
    devices: {results: [{request: r, driver: gpu.example.com, pool: there, device: gpu-0}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  replicas: 4
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      containers: [{name: a, resources: {requests: {cpu: 500m}, claims: [{name: gpu}]}}]`

// converted are objects of earlier versions.
const converted = classes + `
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: old}
spec:
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}, {key: node.kubernetes.io/instance-type, operator: NotIn, values: [m5.metal]}]
  limits: {resources: {cpu: 1k}}
  ttlSecondsAfterEmpty: 30
  providerRef: {name: default}
  taints: [{key: a, effect: NoSchedule}]
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: beta}
spec:
  disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 720h, budgets: [{nodes: 10%, schedule: "@daily", duration: 1h}]}
  template: {spec: {nodeClassRef: {name: beta}, kubelet: {maxPods: 20}, requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}}
---
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: beta}
spec: {amiFamily: AL2, role: r, subnetSelectorTerms: [{tags: {a: b}}], securityGroupSelectorTerms: [{tags: {a: b}}], amiSelectorTerms: [{id: ami-1}]}`

// reviews are what an API server asks a webhook.
const reviews = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"karpenter.sh","version":"v1alpha5","kind":"Provisioner"},"operation":"UPDATE","object":{"metadata":{"name":"p"},"spec":{"limits":{"resources":{"cpu":"2000","a/b~c":"1e3"}},"requirements":[{"key":"a","operator":"In","values":["x"]}],"taints":[{"key":"k","effect":"NoSchedule"}],"ttlSecondsAfterEmpty":30,"providerRef":{"name":"d"},"kubeletConfiguration":{"systemReserved":{"cpu":"0.5"}}}},"oldObject":{"metadata":{"name":"p"}}}}
`

const settings = `CLUSTER_NAME=demo
CLUSTER_ENDPOINT=https://abc.eks.amazonaws.com
BATCH_MAX_DURATION=10s
BATCH_IDLE_DURATION=1s
KUBE_CLIENT_QPS=200
FEATURE_GATES=SpotToSpotConsolidation=true,NodeRepair=false
LOG_LEVEL=info
VM_MEMORY_OVERHEAD_PERCENT=0.075
RESERVED_ENIS=0
MEMORY_LIMIT=1073741824
INTERRUPTION_QUEUE=demo
PREFERENCE_POLICY=Respect
AWS_REGION=us-east-1
--min-values-policy=Strict
--consolidation-level=eager
--spot-premium=10
--metrics-port=8080
--subnet-refresh-interval=1m
`

const kubeletSettings = `{"maxPods":42,"podsPerCore":5,"systemReserved":{"cpu":"100m","memory":"200Mi"},"kubeReserved":{"memory":"1Gi"},"evictionHard":{"memory.available":"5%","nodefs.available":"10%"},"evictionSoft":{"memory.available":"10%"},"evictionSoftGracePeriod":{"memory.available":"1m30s"},"evictionMaxPodGracePeriod":60,"imageGCHighThresholdPercent":85,"imageGCLowThresholdPercent":80,"cpuCFSQuota":false,"clusterDNS":["10.0.0.53"]}`

var (
	notices = []string{
		`{"version":"0","id":"1","source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","time":"2026-01-02T03:04:05Z","region":"us-east-1","detail":{"instance-id":"i-1","instance-action":"terminate"}}`,
		`{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","detail":{"instance-id":"i-1","state":"shutting-down"}}`,
		`{"source":"aws.ec2","detail-type":"EC2 Instance Rebalance Recommendation","detail":{"instance-id":"i-1"}}`,
		`{"source":"aws.health","detail-type":"AWS Health Event","detail":{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-2"},{"entityValue":"i-1"}]}}`,
	}
	userData = []string{
		"#!/bin/bash\necho hello\n",
		"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"BOUNDARY\"\n\n--BOUNDARY\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho hello\n\n--BOUNDARY\nContent-Type: text/cloud-config\n\n#cloud-config\npackages: [jq]\n\n--BOUNDARY--\n",
		"[settings]\nmotd = \"hello\"\n[settings.kubernetes]\nmax-pods = 20\n[settings.kubernetes.node-labels]\n\"a/b\" = \"c\"\n",
		"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config: {maxPods: 20}\n    flags: [--v=2]\n",
	}
)
