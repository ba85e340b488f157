package access

import (
	"testing"
	"testing/synctest"
	"time"
)

// However hard descriptions are throttled, launches go at once; while launches
// are throttled, descriptions make room.
func TestLaunchesGoBeforeDescriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(time.Now, urgent)
		for range 20 {
			b.learn("DescribeInstances", true)
		}
		b.take("DescribeInstances")
		if wait := b.take("DescribeInstances"); wait != mostGap {
			t.Errorf("a throttled description waits %s, want %s", wait, mostGap)
		}
		for range 3 {
			if wait := b.take("CreateFleet"); wait != 0 {
				t.Errorf("a launch waits %s for descriptions", wait)
			}
		}
		b.learn("TerminateInstances", true)
		b.learn("TerminateInstances", true)
		b.take("DescribeImages")
		if wait := b.take("DescribeImages"); wait != 2*leastGap {
			t.Errorf("while ends are throttled a description waits %s", wait)
		}
		for range 40 {
			b.learn("DescribeInstances", false)
			b.learn("TerminateInstances", false)
		}
		time.Sleep(time.Hour)
		for range 3 {
			if wait := b.take("DescribeInstances"); wait != 0 {
				t.Errorf("long after throttling ended a call waits %s", wait)
			}
		}
	})
}

func TestGapIsBounded(t *testing.T) {
	b := newBudget(time.Now, urgent)
	for range 100 {
		b.learn("CreateFleet", true)
	}
	if g := b.gap("CreateFleet"); g != mostGap {
		t.Errorf("the gap is %s, want %s", g, mostGap)
	}
}
