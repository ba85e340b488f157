// Package notice reads what AWS announces about machines: that they will be taken back, stopped or serviced.
package notice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is what is announced.
type Kind string

// The kinds. All but Rebalance and Nothing mean that the machine is going.
const (
	SpotInterrupted        Kind = "spot_interrupted"
	Rebalance              Kind = "rebalance_recommendation"
	ScheduledChange        Kind = "scheduled_change"
	Stopped                Kind = "instance_stopped"
	Terminated             Kind = "instance_terminated"
	ReservationInterrupted Kind = "capacity_reservation_interrupted"
	BlockEnds              Kind = "capacity_block_ends" // this is known without a notice
	InstanceImpaired       Kind = "instance_status"     // these three are not announced but asked for: see Checks
	SystemImpaired         Kind = "system_status"
	EventScheduled         Kind = "event_status"
	Nothing                Kind = "no_op"
)

// Going reports whether machines of such a notice must be given back.
func (k Kind) Going() bool { return k != Rebalance && k != Nothing }

// Forced reports whether machines of such a notice are of no use any more: they
// are ended at once, without waiting for their pods.
func (k Kind) Forced() bool { return k == InstanceImpaired || k == SystemImpaired }

// Category is what EC2's status checks call what an instance has failed; empty for any other notice.
func (k Kind) Category() string {
	switch k {
	case InstanceImpaired:
		return "InstanceStatus"
	case SystemImpaired:
		return "SystemStatus"
	case EventScheduled:
		return "EventStatus"
	}
	return ""
}

// Event is the reason of the event that people read; empty for Nothing.
func (k Kind) Event() string {
	reason, _ := k.words()
	return reason
}

// Says is the announcement in words.
func (k Kind) Says() string {
	_, text := k.words()
	return text
}

func (k Kind) words() (reason, text string) {
	switch k {
	case SpotInterrupted:
		return "SpotInterrupted", "AWS takes this spot instance back in two minutes"
	case Rebalance:
		return "SpotRebalanceRecommendation", "AWS may take this spot instance back before long"
	case InstanceImpaired:
		return "InstanceUnhealthy", "The instance has failed its status check for two minutes"
	case SystemImpaired:
		return "InstanceUnhealthy", "What the instance runs on has failed its status check for two minutes"
	case EventScheduled:
		return "InstanceUnhealthy", "EC2 has planned work on this instance"
	case ScheduledChange:
		return "InstanceUnhealthy", "AWS Health has planned work on this instance"
	case Stopped:
		return "InstanceStopping", "The instance is being stopped, or was"
	case Terminated:
		return "InstanceTerminating", "The instance is being terminated, and not by Tenon"
	case ReservationInterrupted:
		return "CapacityReservationInstanceInterrupted", "AWS takes back the capacity reservation that this instance runs in"
	case BlockEnds:
		return "CapacityBlockEnding", "The capacity block that this instance runs in ends within 40 minutes"
	case Nothing:
	}
	return "", ""
}

// Notice is one announcement.
type Notice struct {
	Kind      Kind
	Instances []string // sorted, each once
	At        time.Time
}

// envelope is how EventBridge wraps every announcement.
type envelope struct {
	Source     string          `json:"source"`
	DetailType string          `json:"detail-type"`
	Time       instant         `json:"time"`
	Detail     json.RawMessage `json:"detail"`
}

// instant is a time whose text is quoted where it is none: it may hold anything.
type instant struct{ time.Time }

func (t *instant) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	if err == nil && text != "" {
		t.Time, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return fmt.Errorf("time %q is not of the form %s", data, time.RFC3339)
	}
	return nil
}

// Parse reads a message of the queue. A message of another kind is a Notice of
// kind Nothing; only one that is no announcement at all is an error.
func Parse(body string) (Notice, error) {
	var e envelope
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return Notice{Kind: Nothing}, fmt.Errorf("read notice: %w", err)
	}
	n := Notice{Kind: Nothing, At: e.Time.Time}
	var err error
	switch e.Source + "/" + e.DetailType {
	case "aws.ec2/EC2 Spot Instance Interruption Warning":
		err = n.one(SpotInterrupted, e.Detail)
	case "aws.ec2/EC2 Instance Rebalance Recommendation":
		err = n.one(Rebalance, e.Detail)
	case "aws.ec2/EC2 Capacity Reservation Instance Interruption Warning":
		err = n.one(ReservationInterrupted, e.Detail)
	case "aws.ec2/EC2 Instance State-change Notification":
		err = n.state(e.Detail)
	case "aws.health/AWS Health Event":
		err = n.health(e.Detail)
	}
	if err != nil {
		return Notice{Kind: Nothing, At: e.Time.Time}, fmt.Errorf("read %s: %w", e.DetailType, err)
	}
	return n, nil
}

func (n *Notice) one(k Kind, detail json.RawMessage) error {
	var d struct {
		Instance string `json:"instance-id"`
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		return err
	}
	if d.Instance != "" {
		n.Kind, n.Instances = k, []string{d.Instance}
	}
	return nil
}

func (n *Notice) state(detail json.RawMessage) error {
	var d struct {
		State string `json:"state"`
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		return err
	}
	switch strings.ToLower(d.State) {
	case "stopping", "stopped":
		return n.one(Stopped, detail)
	case "shutting-down", "terminated":
		return n.one(Terminated, detail)
	}
	return nil
}

// health reads an event of AWS Health. Only planned work on EC2 is about machines of ours.
func (n *Notice) health(detail json.RawMessage) error {
	var d struct {
		Service  string `json:"service"`
		Category string `json:"eventTypeCategory"`
		Affected []struct {
			Entity string `json:"entityValue"`
		} `json:"affectedEntities"`
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		return err
	}
	if d.Service != "EC2" || d.Category != "scheduledChange" {
		return nil
	}
	for _, a := range d.Affected {
		if strings.HasPrefix(a.Entity, "i-") {
			n.Instances = append(n.Instances, a.Entity)
		}
	}
	slices.Sort(n.Instances)
	n.Instances = slices.Compact(n.Instances)
	if len(n.Instances) > 0 {
		n.Kind = ScheduledChange
	}
	return nil
}
