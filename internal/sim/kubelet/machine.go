// Package kubelet plays the machines of a simulated cloud, from their boot to their death, towards a real API server.
//
// A machine does what its user data says: it joins as a Node with those labels, taints and settings, or it does not
// join. The Node's spec and capacity belong to this package. The heartbeats and the pods of a Node are played by kwok,
// for as long as the Node has kwok's annotation: it is set at boot and taken away when the machine dies or loses its
// network, and what happens then is up to the cluster, as in life.
package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The annotations of a Node that is simulated.
const (
	// HeartbeatAnnotation tells kwok to play the kubelet of the Node.
	HeartbeatAnnotation = "kwok.x-k8s.io/node"
	// NotReadyAnnotation tells the kubelet not to become ready.
	NotReadyAnnotation = "sim.tenon.sh/never-ready"
	// MachineAnnotation is the ID of the machine.
	MachineAnnotation = "sim.tenon.sh/machine"
	// SilentAnnotation says why no heartbeats come: dead or network.
	SilentAnnotation = "sim.tenon.sh/silent"
)

// A Machine is an instance as the simulated cloud starts it.
type Machine struct {
	ID           string // of the instance; the machine is known by it
	ProviderID   string
	NodeName     string
	InstanceType string
	Zone, ZoneID string
	Region       string
	PrivateIP    string
	Arch         string // amd64 or arm64; empty: amd64
	Image        string // name of the operating system's image, for people
	Version      string // of the kubelet, with its v; empty: the one of the control plane we ship

	UserData []byte
	// Capacity is what the machine has. Its pods are as many as its network interfaces can address.
	Capacity corev1.ResourceList
	// Allocatable is what pods may use of it. Without it it is worked out from the capacity and the user data.
	Allocatable corev1.ResourceList
	// Labels are those a cloud controller would add, beside type, zone and region.
	Labels map[string]string

	Faults Faults
}

// Faults are what goes wrong with a machine. The zero value is a machine that works.
type Faults struct {
	NeverBoots        bool          // it stays dark
	NeverRegisters    bool          // it boots, but its kubelet never reaches the API server
	NeverReady        bool          // it registers, but its kubelet never says that it is ready
	DiesAfter         time.Duration // it dies so long after its start
	LosesNetworkAfter time.Duration // it falls silent so long after its start, until it recovers
}

// Delays are how long a machine takes for the steps of its start.
type Delays struct {
	Boot    time.Duration // from start to the registration of its Node
	Ready   time.Duration // from there until its kubelet is ready
	Devices time.Duration // from there until device plugins report GPUs and other extended resources
}

// State is how far a machine is.
type State string

// The states of a machine.
const (
	Booting State = "booting"      // no Node yet
	Stuck   State = "never joins"  // and never will be
	Running State = "running"      // its Node has heartbeats
	Lost    State = "network lost" // alive, but cut off
	Dead    State = "dead"
)

// A Status is what there is to say about a machine.
type Status struct {
	ID           string `json:"id"`
	Node         string `json:"node"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	State        State  `json:"state"`
	Why          string `json:"why,omitempty"` // of a machine that is stuck
}
