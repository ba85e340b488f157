package aws_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/ekscluster"
	"github.com/tenon-sh/tenon/internal/sim/fault"
)

// What EC2 said of images, subnets and security groups is used for as long as an operator says; for a minute, groups for five, if he says nothing.
func TestRefreshIntervals(t *testing.T) {
	for name, tc := range map[string]struct {
		settings                func(*aws.Settings)
		images, subnets, groups int // times that each is asked for in five minutes
	}{
		"Default": {nil, 5, 5, 1},
		"Images":  {func(s *aws.Settings) { s.ImagesFresh = 5 * time.Minute }, 1, 5, 1},
		"Subnets": {func(s *aws.Settings) { s.SubnetsFresh = 150 * time.Second }, 5, 2, 1},
		"Groups":  {func(s *aws.Settings) { s.GroupsFresh = time.Minute }, 5, 5, 5},
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
				images, subnets, groups := w.calls("DescribeImages"), w.calls("DescribeSubnets"), w.calls("DescribeSecurityGroups")
				if images != tc.images || subnets != tc.subnets || groups != tc.groups {
					t.Errorf("images were asked for %d times, subnets %d times and groups %d times in five minutes, want %d, %d and %d", images, subnets, groups, tc.images, tc.subnets, tc.groups)
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
