package aws_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// A machine of a Provisioner that is found again is told with its image, which its nodes are labelled with.
func TestFoundMachineOfAProvisioner(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, change: func(c *nodeclass.Class) { c.Legacy = true }}
		d := w.start()
		out := d.Launch(t.Context(), []cloud.Order{order("one", 1, label.OnDemand)})[0]
		if out.Err != nil || len(out.Machines) != 1 {
			t.Fatalf("launched %v, %v", out.Machines, out.Err)
		}
		time.Sleep(time.Minute)
		listed, err := d.List(t.Context())
		if err != nil || len(listed) != 1 {
			t.Fatalf("listed %v, %v", listed, err)
		}
		found, err := w.start().Complete(t.Context(), templateOf(), listed)
		if err != nil {
			t.Fatal(err)
		}
		const key = "karpenter.k8s.aws/instance-ami-id"
		if got, want := found[0].Labels[key], out.Machines[0].Labels[key]; got == "" || got != want {
			t.Errorf("its image is told as %q, and was %q when it was bought", got, want)
		}
	})
}
