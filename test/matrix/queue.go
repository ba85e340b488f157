package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// queueName is the queue that the controller is told of.
const queueName = "matrix"

// queue is a queue of notices, as SQS serves it to the driver's own client, and
// what is wrong with it.
type queue struct {
	server  *awsapi.Server
	account *awsapi.Account
	sent    int
	late    []late

	// What is wrong: how late the n-th message comes, how often, and what comes every five seconds.
	delay  func(n int) time.Duration
	copies int
	poison []string
}

// late is a message on its way.
type late struct {
	at   time.Time
	body string
}

func newQueue(r *catalog.Region) (*queue, error) {
	account, err := awsapi.NewAccount(awsapi.Config{
		Region: r.Name, ClusterName: queueName, Catalog: r, Now: time.Now,
		Sells: func(t string) bool { return t == "m5.large" },
	})
	if err != nil {
		return nil, err
	}
	return &queue{server: awsapi.NewServer(account), account: account}, nil
}

// heard takes what the cloud says of a machine, as EventBridge would.
func (q *queue) heard(n market.Notice) {
	var kind string
	detail := map[string]string{"instance-id": n.Instance}
	switch n.Kind {
	case market.SpotInterruption:
		kind, detail["instance-action"] = "EC2 Spot Instance Interruption Warning", "terminate"
	case market.RebalanceRecommendation:
		kind = "EC2 Instance Rebalance Recommendation"
	case market.StateChanged:
		kind, detail["state"] = "EC2 Instance State-change Notification", string(n.State)
	default:
		return
	}
	body, err := json.Marshal(map[string]any{"source": "aws.ec2", "detail-type": kind, "time": n.At.UTC().Format(time.RFC3339), "detail": detail})
	if err != nil {
		return
	}
	q.sent++
	at := time.Now()
	if q.delay != nil {
		at = at.Add(q.delay(q.sent))
	}
	for i := range 1 + q.copies {
		q.late = append(q.late, late{at.Add(time.Duration(i) * 45 * time.Second), string(body)})
	}
}

// step delivers what is due.
func (q *queue) step() error {
	var left []late
	poison := q.poison
	if time.Now().Unix()%5 != 0 {
		poison = nil
	}
	for _, body := range poison {
		if _, err := q.account.Market.Send(queueName, body); err != nil {
			return fmt.Errorf("send a message: %w", err)
		}
	}
	for _, l := range q.late {
		if time.Now().Before(l.at) {
			left = append(left, l)
			continue
		}
		if _, err := q.account.Market.Send(queueName, l.body); err != nil {
			return fmt.Errorf("send a message: %w", err)
		}
	}
	q.late = left
	return nil
}

// announcing is a driver of a process that hears of interruptions.
type announcing struct {
	mortal

	notices *notice.Queue
	checks  *notice.Checks
}

func (q *queue) driver(m mortal) announcing {
	through := &http.Client{Transport: deadTransport{m.life, q.server}}
	key := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
	})
	region, at := q.account.Market.Region(), aws.String("https://aws.invalid")
	return announcing{
		mortal:  m,
		notices: notice.NewQueue(sqs.New(sqs.Options{Region: region, BaseEndpoint: at, Credentials: key, HTTPClient: through}), queueName, 20),
		checks:  notice.NewChecks(ec2.New(ec2.Options{Region: region, BaseEndpoint: at, Credentials: key, HTTPClient: through}), time.Now),
	}
}

// Notices is the announcer's of internal/app.
func (a announcing) Notices() *notice.Queue { return a.notices }

// Checks is the announcer's of internal/app.
func (a announcing) Checks() *notice.Checks { return a.checks }

// Interrupted is the announcer's of internal/app.
func (announcing) Interrupted(string, string) {}
