package notice_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/aws/notice"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		why, body string
		kind      notice.Kind
		instances []string
		bad       bool
	}{
		"Spot": {
			why:  "Two minutes' notice.",
			body: `{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","time":"2026-01-02T03:04:05Z","detail":{"instance-id":"i-1","instance-action":"terminate"}}`,
			kind: notice.SpotInterrupted, instances: []string{"i-1"},
		},
		"Running": {
			why:  "A machine that starts is no news.",
			body: `{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","detail":{"instance-id":"i-1","state":"running"}}`,
			kind: notice.Nothing,
		},
		"Terminated": {
			why:  "One that somebody else ended is.",
			body: `{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","detail":{"instance-id":"i-1","state":"shutting-down"}}`,
			kind: notice.Terminated, instances: []string{"i-1"},
		},
		"Health": {
			why:  "Each affected machine once; volumes and the like are not machines.",
			body: `{"source":"aws.health","detail-type":"AWS Health Event","detail":{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-2"},{"entityValue":"i-1"},{"entityValue":"i-2"},{"entityValue":"vol-1"}]}}`,
			kind: notice.ScheduledChange, instances: []string{"i-1", "i-2"},
		},
		"OtherHealth": {
			why:  "Other services' work is none of ours.",
			body: `{"source":"aws.health","detail-type":"AWS Health Event","detail":{"service":"RDS","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-2"}]}}`,
			kind: notice.Nothing,
		},
		"Unknown": {why: "What is not known does nothing.", body: `{"source":"aws.s3","detail-type":"x","detail":{}}`, kind: notice.Nothing},
		"Empty":   {why: "An announcement that names no machine does nothing.", body: `{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{}}`, kind: notice.Nothing},
		"Garbage": {why: "Garbage is an error and does nothing.", body: `hello`, kind: notice.Nothing, bad: true},
		"Wrong":   {why: "So is a detail of the wrong form.", body: `{"source":"aws.ec2","detail-type":"EC2 Instance Rebalance Recommendation","detail":[1]}`, kind: notice.Nothing, bad: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n, err := notice.Parse(tc.body)
			if (err != nil) != tc.bad || n.Kind != tc.kind {
				t.Errorf("%s\ngot %+v, %v", tc.why, n, err)
			}
			if diff := cmp.Diff(tc.instances, n.Instances); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
			if n.Kind != notice.Nothing && n.Kind.Event() == "" {
				t.Errorf("%s has no event", n.Kind)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":"i-1"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		n, _ := notice.Parse(body)
		if (n.Kind == notice.Nothing) != (len(n.Instances) == 0) {
			t.Errorf("%q: kind %s with machines %v", body, n.Kind, n.Instances)
		}
	})
}

// What a message says in place of its time may hold anything, and is told by the log.
func TestTimeIsQuoted(t *testing.T) {
	_, err := notice.Parse("{\"source\":\"aws.ec2\",\"time\":\"2026-01-02T\x7f3:04:05Z\"}")
	if err == nil || strings.Contains(err.Error(), "\x7f") || !strings.Contains(err.Error(), `\x7f3:04`) {
		t.Errorf("got %v, want the time in quotes", err)
	}
}
