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
			time.Sleep(mostGap)
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
		for range 3 { // all at once: that counts once
			b.learn("TerminateInstances", true)
		}
		b.take("DescribeImages")
		if wait := b.take("DescribeImages"); wait != leastGap {
			t.Errorf("while ends are throttled a description waits %s", wait)
		}
		for range 80 {
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
	now := time.Now()
	b := newBudget(func() time.Time { return now }, urgent)
	for range 100 {
		b.learn("CreateFleet", true)
		now = now.Add(mostGap)
	}
	if g := b.gap("CreateFleet"); g != mostGap {
		t.Errorf("the gap is %s, want %s", g, mostGap)
	}
}
