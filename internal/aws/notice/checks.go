package notice

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// A machine is given up when a check has failed for so long: shorter failures pass.
const impairedFor = 2 * time.Minute

// Checks are what EC2 finds out about machines by looking at them. It announces
// none of it: it has to be asked.
type Checks struct {
	ec2 *ec2.Client
	now clock.Now

	none  bool                 // the server does not have the call
	since map[string]time.Time // when a check was first seen to fail, where EC2 does not say
}

// NewChecks returns the checks that a client can ask for. One goroutine asks.
func NewChecks(c *ec2.Client, now clock.Now) *Checks {
	return &Checks{ec2: c, now: now, since: map[string]time.Time{}}
}

// Look asks once and hands what it finds to handle. It returns how many notices
// there were. The error is of the question; that a notice could not be handled is
// handed to failed, and the next look finds it again.
func (c *Checks) Look(ctx context.Context, handle Handler, failed func(error)) (int, error) {
	if c.none {
		return 0, nil
	}
	found, err := c.ask(ctx)
	if err != nil {
		c.none = refusal.Absent(err)
		return 0, err
	}
	var notices []Notice
	failing := map[string]time.Time{}
	for _, s := range found {
		notices = append(notices, c.read(s, failing)...)
	}
	c.since = failing
	notices = together(notices)
	for _, n := range notices {
		if err := handle(ctx, n); err != nil {
			failed(fmt.Errorf("%s of %v: %w", n.Kind, n.Instances, err))
		}
	}
	return len(notices), nil
}

// together makes one notice of all that say that machines are of no use: their number
// shows whether the machines themselves are the cause.
func together(notices []Notice) []Notice {
	var out []Notice
	at := map[Kind]int{}
	for _, n := range notices {
		i, ok := at[n.Kind]
		if !n.Kind.Forced() || !ok {
			at[n.Kind] = len(out)
			out = append(out, n)
			continue
		}
		out[i].Instances = append(out[i].Instances, n.Instances...)
		if n.At.Before(out[i].At) {
			out[i].At = n.At
		}
	}
	for _, n := range out {
		slices.Sort(n.Instances)
	}
	return out
}

// ask lists the instances with which something is wrong: three short lists
// instead of one of every instance of the account.
func (c *Checks) ask(ctx context.Context) (map[string]ec2types.InstanceStatus, error) {
	found := map[string]ec2types.InstanceStatus{}
	for _, wrong := range []ec2types.Filter{
		{Name: aws.String("instance-status.status"), Values: []string{"impaired"}},
		{Name: aws.String("system-status.status"), Values: []string{"impaired"}},
		{Name: aws.String("event.code"), Values: []string{"*"}},
	} {
		pages := ec2.NewDescribeInstanceStatusPaginator(c.ec2, &ec2.DescribeInstanceStatusInput{MaxResults: aws.Int32(1000), Filters: []ec2types.Filter{wrong}})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, refusal.Wrap("describe instance status", err)
			}
			for _, s := range page.InstanceStatuses {
				found[aws.ToString(s.InstanceId)] = s
			}
		}
	}
	return found, nil
}

// read turns the status of one instance into notices, and notes in failing since
// when its checks fail.
func (c *Checks) read(s ec2types.InstanceStatus, failing map[string]time.Time) []Notice {
	id := aws.ToString(s.InstanceId)
	var out []Notice
	for kind, check := range map[Kind]*ec2types.InstanceStatusSummary{InstanceImpaired: s.InstanceStatus, SystemImpaired: s.SystemStatus} {
		if check == nil || check.Status != ec2types.SummaryStatusImpaired {
			continue
		}
		key := id + " " + string(kind)
		since := impairedSince(check)
		if since.IsZero() {
			since = c.now()
			if was, ok := c.since[key]; ok {
				since = was
			}
		}
		failing[key] = since
		if c.now.Since(since) >= impairedFor {
			out = append(out, Notice{Kind: kind, Instances: []string{id}, At: since})
		}
	}
	for _, e := range s.Events {
		about := aws.ToString(e.Description)
		if strings.HasPrefix(about, "[Completed]") || strings.HasPrefix(about, "[Canceled]") {
			continue
		}
		return append(out, Notice{Kind: EventScheduled, Instances: []string{id}})
	}
	return out
}

func impairedSince(s *ec2types.InstanceStatusSummary) time.Time {
	var first time.Time
	for _, d := range s.Details {
		if at := aws.ToTime(d.ImpairedSince); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
