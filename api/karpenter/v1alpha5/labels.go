package v1alpha5

// Labels, annotations and the finalizer of this API.
const (
	LabelProvisioner = Group + "/provisioner-name" // the Provisioner a node belongs to
	LabelManagedBy   = Group + "/managed-by"       // the cluster whose controller made the machine

	AnnotationEmptinessTime    = Group + "/emptiness-timestamp" // since when a node is empty (RFC 3339)
	AnnotationDoNotEvict       = Group + "/do-not-evict"        // on a pod: it stays, and its node with it
	AnnotationDoNotConsolidate = Group + "/do-not-consolidate"  // on a node
	AnnotationDisruption       = Group + "/voluntary-disruption"
	AnnotationProvisionerHash  = Group + "/provisioner-hash"
	AnnotationHashVersion      = Group + "/provisioner-hash-version"

	TaintNotReady = Group + "/not-ready" // on nodes of 0.6
)
