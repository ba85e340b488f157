package access

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// deaf is a network that notes what would be sent and sends nothing.
type deaf struct{ sent []string }

func (d *deaf) Do(r *http.Request) (*http.Response, error) {
	d.sent = append(d.sent, r.URL.Host)
	return nil, errors.New("there is no network here")
}

// With read-only access no call that changes something is sent, whatever asks for it.
func TestReadOnly(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	net := &deaf{}
	clients, err := Connect(t.Context(), Options{Region: "us-east-1", ReadOnly: true, HTTP: net})
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(context.Context) error{
		"TerminateInstances": func(ctx context.Context) error {
			_, err := clients.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{"i-1"}})
			return err
		},
		"CreateTags": func(ctx context.Context) error {
			_, err := clients.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{"i-1"}, Tags: []types.Tag{{}}})
			return err
		},
	} {
		if err := call(t.Context()); err == nil || !strings.Contains(err.Error(), "may only look") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(net.sent) > 0 {
		t.Errorf("sent to %v", net.sent)
	}
	if _, err := clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}, func(o *ec2.Options) { o.RetryMaxAttempts = 1 }); err == nil || len(net.sent) == 0 {
		t.Errorf("what only looks is not sent: %v", err)
	}
	for _, c := range Calls() {
		changes := c.Use == Create || c.Use == Tag || c.Use == Delete || c.Use == PassRole || c.Action == "DeleteMessage" || c.Action == "ReceiveMessage"
		if changes && looks(c.Action) {
			t.Errorf("%s changes something and passes for a look", c.Action)
		}
	}
}
