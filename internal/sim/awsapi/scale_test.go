package awsapi_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestAThousandMachinesInOneCall(t *testing.T) {
	w := serve(t, nil)
	d := discover(t, w)
	w.template(t, d, "demo-1")
	of(w.ec2().CreateFleet(t.Context(), fleet("demo-1", 1000, types.DefaultTargetCapacityTypeOnDemand, override(d, "m5.large", 0)))).must(t)
	seen := map[string]bool{}
	names := map[string]bool{}
	for p := ec2.NewDescribeInstancesPaginator(w.ec2(), &ec2.DescribeInstancesInput{MaxResults: aws.Int32(300)}); p.HasMorePages(); {
		for _, r := range of(p.NextPage(t.Context())).must(t).Reservations {
			for _, i := range r.Instances {
				seen[*i.InstanceId] = true
				names[*i.PrivateDnsName] = true
			}
		}
	}
	if len(seen) != 1000 || len(names) != 1000 {
		t.Errorf("%d machines with %d names, want 1000 of each", len(seen), len(names))
	}
}

// TestTenThousandNoticesInVirtualTime drains a full queue over the wire without a network and without waiting.
func TestTenThousandNoticesInVirtualTime(t *testing.T) {
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	region, err := all.Region("us-west-2")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		a := of(awsapi.NewAccount(awsapi.Config{Region: "us-west-2", ClusterName: "demo", Catalog: region, Now: time.Now, Limits: map[string]market.Limit{}})).must(t)
		config := signed("http://aws.simulated", "us-west-2", awsapi.AdminKey)
		config.HTTPClient = &http.Client{Transport: awsapi.NewServer(a)}
		const n = 10_000
		for k := range n {
			of(a.Market.Send("demo", "message "+strconv.Itoa(k))).must(t)
		}
		api := sqs.NewFromConfig(config)
		queue := of(api.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("demo")})).must(t).QueueUrl
		begin := time.Now()
		var mu sync.Mutex
		seen := map[string]bool{}
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for {
					out, err := api.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue, MaxNumberOfMessages: 10})
					if err != nil || len(out.Messages) == 0 {
						return
					}
					var done []sqstypes.DeleteMessageBatchRequestEntry
					for k, m := range out.Messages {
						mu.Lock()
						seen[*m.Body] = true
						mu.Unlock()
						done = append(done, sqstypes.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(k)), ReceiptHandle: m.ReceiptHandle})
					}
					if _, err := api.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: queue, Entries: done}); err != nil {
						return
					}
				}
			})
		}
		workers.Wait()
		if len(seen) != n {
			t.Errorf("%d messages arrived, want %d", len(seen), n)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("it took %s of virtual time", took)
		}
		visible, hidden, err := a.Market.Depth("demo")
		if err != nil || visible+hidden != 0 {
			t.Errorf("%d messages are left, %v", visible+hidden, err)
		}
	})
}
