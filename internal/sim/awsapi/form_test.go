package awsapi_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/sim/awsapi"
)

// form makes a call as older clients do, and returns the status and the text of the answer.
func (w world) form(t *testing.T, service string, fields url.Values) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", w.url, strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+awsapi.AdminKey+"/20260102/us-west-2/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Body.Close() }()
	text, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return out.StatusCode, string(text)
}

func TestQueueSpeaksForms(t *testing.T) {
	w := serve(t, nil)
	steps := []struct {
		fields url.Values
		want   []string
	}{
		{url.Values{"Action": {"GetQueueUrl"}, "QueueName": {"demo"}}, []string{"<GetQueueUrlResponse", "/123456789012/demo</QueueUrl>"}},
		{url.Values{"Action": {"SendMessage"}, "QueueUrl": {"http://x/1/demo"}, "MessageBody": {"a < b"}}, []string{"<MessageId>", "<MD5OfMessageBody>"}},
		{
			url.Values{"Action": {"ReceiveMessage"}, "QueueUrl": {"http://x/1/demo"}, "AttributeName.1": {"All"}},
			[]string{"<ReceiveMessageResult><Message>", "<Body>a &lt; b</Body>", "<Attribute><Name>SentTimestamp</Name><Value>"},
		},
		{url.Values{"Action": {"GetQueueUrl"}, "QueueName": {"nope"}}, []string{"<ErrorResponse", "<Code>AWS.SimpleQueueService.NonExistentQueue</Code>"}},
	}
	for _, s := range steps {
		_, text := w.form(t, "sqs", s.fields)
		for _, want := range s.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s gave %s, want %s in it", s.fields.Get("Action"), text, want)
			}
		}
	}
}

func TestTheStackCanBeDeleted(t *testing.T) {
	w := serve(t, nil)
	name := url.Values{"Action": {"DescribeStacks"}, "StackName": {"Karpenter-demo"}}
	if status, text := w.form(t, "cloudformation", name); status != http.StatusOK || !strings.Contains(text, "<StackStatus>CREATE_COMPLETE</StackStatus>") {
		t.Errorf("describing the stack gave %d %s", status, text)
	}
	every := url.Values{"Action": {"DescribeStacks"}}
	if status, text := w.form(t, "cloudformation", every); status != http.StatusOK || !strings.Contains(text, "<StackName>Karpenter-demo</StackName>") {
		t.Errorf("describing every stack gave %d %s", status, text)
	}
	away := url.Values{"Action": {"DeleteStack"}, "StackName": {"Karpenter-demo"}}
	const made = "demo_1"
	_, err := w.Market.CreateProfile(made, "/", nil)
	if err = errors.Join(err, w.Market.AddRoleToProfile(made, "KarpenterNodeRole-demo")); err != nil {
		t.Fatal(err)
	}
	if status, text := w.form(t, "cloudformation", away); status != http.StatusConflict || !strings.Contains(text, "KarpenterNodeRole-demo is in demo_1") {
		t.Errorf("deleting the stack while a class has the role gave %d %s", status, text)
	}
	if !w.Market.Allowed(w.ControllerRole()) || !w.Market.HasQueue("demo") {
		t.Error("half of the stack that could not be deleted is gone")
	}
	if err := errors.Join(w.Market.RemoveRoleFromProfile(made, "KarpenterNodeRole-demo"), w.Market.DeleteProfile(made)); err != nil {
		t.Fatal(err)
	}
	w.form(t, "cloudformation", away)
	if status, text := w.form(t, "cloudformation", name); status != http.StatusBadRequest || !strings.Contains(text, "does not exist") {
		t.Errorf("describing the deleted stack gave %d %s", status, text)
	}
	if status, text := w.form(t, "cloudformation", every); status != http.StatusOK || strings.Contains(text, "<StackName>") {
		t.Errorf("describing every stack after that gave %d %s", status, text)
	}
	if _, err := w.Market.Role("KarpenterNodeRole-demo"); err == nil {
		t.Error("the node role is still there")
	}
	if w.Market.Allowed(w.ControllerRole()) || w.Market.HasQueue("demo") {
		t.Error("the controller is still allowed to work, or the queue is still there")
	}
}

func TestExtraTypes(t *testing.T) {
	w := serve(t, func(c *awsapi.Config) { c.ExtraTypes = map[string]string{"c-4x": "m5.xlarge"} })
	extra, like := w.Market.Type("c-4x"), w.Market.Type("m5.xlarge")
	if extra == nil || extra.Name != "c-4x" || extra.VCPUs != like.VCPUs || extra.OnDemand != like.OnDemand || !slices.Equal(extra.Zones, like.Zones) {
		t.Errorf("it is %+v, want it like %+v", extra, like)
	}
	for name, like := range map[string]string{"m5.large": "m5.xlarge", "c-4x": "none"} {
		if _, err := awsapi.NewAccount(awsapi.Config{Region: "us-west-2", ClusterName: "c", ExtraTypes: map[string]string{name: like}}); err == nil {
			t.Errorf("%s like %s is not refused", name, like)
		}
	}
}

func TestExtraZones(t *testing.T) {
	w := serve(t, func(c *awsapi.Config) { c.ExtraZones = []string{"antarctica-east1", "antarctica-west1"} })
	found := 0
	for _, s := range w.Market.Subnets() {
		if strings.HasPrefix(s.Zone, "antarctica-") && s.Tags["karpenter.sh/discovery"] == "demo" {
			found++
		}
	}
	if zones := w.Market.Type("m5.large").Zones; found != 2 || len(zones) != 6 {
		t.Errorf("%d subnets in the extra zones, m5.large in %v", found, zones)
	}
}
