package host

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Two hosts that start a pod of the same port at the same time give it two ports: neither process listens yet when
// the other host looks.
func TestHostsShareThePortsOfTheComputer(t *testing.T) {
	free, err := (&Ports{}).take()
	if err != nil {
		t.Fatal(err)
	}
	shared := &Ports{}
	seen := map[int]string{}
	for i := range 2 {
		node := strconv.Itoa(i)
		p := &pod{h: &Host{o: Options{Ports: shared, Say: t.Logf}}, Pod: &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: int32(free)}}, //nolint:gosec // a port
		}}}}}
		ports, err := p.ports()
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[ports[free]]; twice {
			t.Errorf("the pods of nodes %s and %s both get port %d", other, node, ports[free])
		}
		seen[ports[free]] = node
		defer shared.release(ports)
	}
}
