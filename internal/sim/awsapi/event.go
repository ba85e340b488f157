package awsapi

import (
	"encoding/json"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// observer passes on what happens to machines, and puts notices into the cluster's queue as EventBridge does.
type observer struct {
	market.Observer
	account *Account
}

// Notice implements market.Observer.
func (o observer) Notice(n market.Notice) {
	if body, err := json.Marshal(o.account.event(n)); err == nil && !o.account.cfg.Queueless {
		// A queue that was deleted gets nothing, as from EventBridge.
		_, _ = o.account.Market.Send(o.account.cfg.ClusterName, string(body))
	}
	o.Observer.Notice(n)
}

// event is a notice in the envelope of EventBridge.
func (a *Account) event(n market.Notice) map[string]any {
	m := a.Market
	e := map[string]any{
		"version": "0", "id": n.ID, "source": "aws.ec2", "account": m.Account(), "region": m.Region(), "time": n.At.UTC().Format(time.RFC3339),
		"resources": []string{"arn:" + m.Partition() + ":ec2:" + m.Region() + ":" + m.Account() + ":instance/" + n.Instance},
	}
	switch n.Kind {
	case market.SpotInterruption:
		e["detail-type"] = "EC2 Spot Instance Interruption Warning"
		e["detail"] = map[string]string{"instance-id": n.Instance, "instance-action": "terminate"}
	case market.RebalanceRecommendation:
		e["detail-type"] = "EC2 Instance Rebalance Recommendation"
		e["detail"] = map[string]string{"instance-id": n.Instance}
	case market.StateChanged:
		e["detail-type"] = "EC2 Instance State-change Notification"
		e["detail"] = map[string]string{"instance-id": n.Instance, "state": string(n.State)}
	case market.ReservationInterruption:
		e["detail-type"] = "EC2 Capacity Reservation Instance Interruption Warning"
		e["detail"] = map[string]string{
			"instance-id": n.Instance, "instance-action": "terminate", "instance-lifecycle": "interruptible-capacity-reservation",
			"instance-termination-time": n.At.Add(2 * time.Minute).UTC().Format(time.RFC3339),
		}
	case market.ScheduledChange:
		e["source"], e["detail-type"], e["resources"] = "aws.health", "AWS Health Event", []string{n.Instance}
		e["detail"] = health(a, n)
	}
	return e
}

func health(a *Account, n market.Notice) map[string]any {
	return map[string]any{
		"eventArn":          "arn:" + a.Market.Partition() + ":health:" + a.Market.Region() + "::event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/" + n.Event.ID,
		"service":           "EC2",
		"eventTypeCode":     "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
		"eventTypeCategory": "scheduledChange",
		"startTime":         n.Event.NotBefore.UTC().Format(time.RFC1123),
		"endTime":           n.Event.NotAfter.UTC().Format(time.RFC1123),
		"eventDescription":  []map[string]string{{"language": "en_US", "latestDescription": n.Event.Description}},
		"affectedEntities":  []map[string]any{{"entityValue": n.Instance, "tags": map[string]string{}}},
	}
}
