package aws_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/ekscluster"
	"github.com/tenon-sh/tenon/internal/sim/fault"
)

// What EC2 said of images and subnets is used for as long as an operator says; for a minute if he says nothing.
func TestRefreshIntervals(t *testing.T) {
	for name, tc := range map[string]struct {
		settings        func(*aws.Settings)
		images, subnets int // times that each is asked for in five minutes
	}{
		"Default": {nil, 5, 5},
		"Images":  {func(s *aws.Settings) { s.ImagesFresh = 5 * time.Minute }, 1, 5},
		"Subnets": {func(s *aws.Settings) { s.SubnetsFresh = 150 * time.Second }, 5, 2},
	} {
		t.Run(name, func(t *testing.T) {
			credentials(t)
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, settings: tc.settings}
				d := w.start()
				for range 30 {
					if _, err := d.Catalog(t.Context(), templateOf()); err != nil {
						t.Fatal(err)
					}
					time.Sleep(10 * time.Second)
				}
				if images, subnets := w.calls("DescribeImages"), w.calls("DescribeSubnets"); images != tc.images || subnets != tc.subnets {
					t.Errorf("images were asked for %d times and subnets %d times in five minutes, want %d and %d", images, subnets, tc.images, tc.subnets)
				}
			})
		})
	}
}

// What the API server said of its version stands in where EKS does not answer, unless the version is to be EKS's alone.
func TestVersionOfEKSAlone(t *testing.T) {
	for _, only := range []bool{false, true} {
		credentials(t)
		synctest.Test(t, func(t *testing.T) {
			w := &virtual{t: t, settings: func(s *aws.Settings) {
				s.Known, s.EKSVersion = ekscluster.Known{Endpoint: "https://a", CA: "Yw==", Kubernetes: "1.34"}, only
			}}
			d := w.start()
			w.account().Rules.Add(fault.Rule{Action: "DescribeCluster", Kind: fault.Deny})
			if _, err := d.Catalog(t.Context(), templateOf()); (err != nil) != only {
				t.Errorf("EKS alone: %v, and the catalogue ends with %v", only, err)
			}
		})
	}
}
