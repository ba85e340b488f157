package playground

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

func TestMachinesAreOfTheirType(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	ms, err := machines(c, "us-west-2", MachineRequest{Type: "g5.xlarge", Count: 4, Taints: []string{"a=b:NoSchedule"}})
	if err != nil {
		t.Fatal(err)
	}
	zones, ids := map[string]bool{}, map[string]bool{}
	for _, m := range ms {
		zones[m.Zone], ids[m.ID] = true, true
		if gpu := m.Capacity["nvidia.com/gpu"]; gpu.Value() != 1 || m.Capacity.Cpu().Value() != 4 || m.Capacity.Pods().Value() < 10 {
			t.Errorf("capacity %v", m.Capacity)
		}
		if !strings.HasSuffix(m.ProviderID, m.Zone+"/"+m.ID) || len(m.ID) != 19 {
			t.Errorf("ID %s, provider ID %s", m.ID, m.ProviderID)
		}
		if s, err := kubelet.Parse(m.UserData); err != nil || len(s.Taints) != 1 {
			t.Errorf("user data: %v, %v", s, err)
		}
	}
	if len(zones) < 2 || len(ids) != 4 {
		t.Errorf("machines are not spread: zones %v, IDs %v", zones, ids)
	}
}

func TestMachinesRefuses(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]struct {
		wish MachineRequest
		says string
	}{
		"no such type":       {MachineRequest{Type: "m5.tiny", Count: 1}, "m5.tiny"},
		"a slip":             {MachineRequest{Type: "m5.larg", Count: 1}, `there is no instance type "m5.larg": did you mean "m5.large"?`},
		"a zone elsewhere":   {MachineRequest{Type: "m5.large", Zone: "eu-west-1a", Count: 1}, "us-west-2a"},
		"none at all":        {MachineRequest{Type: "m5.large"}, "0 machines"},
		"more than anybody":  {MachineRequest{Type: "m5.large", Count: 1 << 30}, "not between"},
		"where none can run": {MachineRequest{Type: "mac1.metal", Count: 1}, "does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := machines(c, "us-west-2", r.wish); err == nil || !strings.Contains(err.Error(), r.says) {
				t.Errorf("got %v, want it to say %q", err, r.says)
			}
		})
	}
}
