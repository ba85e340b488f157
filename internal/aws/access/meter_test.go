package access_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/aws/access"
)

// answering answers every request with the next of its codes, a second after it was asked; 0 breaks the connection.
type answering struct{ codes []int }

func (a *answering) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(time.Second)
	code := a.codes[0]
	a.codes = a.codes[1:]
	if code == 0 {
		return nil, fmt.Errorf("connection refused")
	}
	body := `<DescribeSubnetsResponse></DescribeSubnetsResponse>`
	if code != http.StatusOK {
		body = `<Response><Errors><Error><Code>InternalError</Code><Message>broken</Message></Error></Errors></Response>`
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// Every request is told once, and each of its attempts before it, with the status of its answer.
func TestObserve(t *testing.T) {
	for name, tc := range map[string]struct {
		codes []int
		want  []string
	}{
		"Answered": {[]int{200}, []string{"EC2 DescribeSubnets 200 attempt", "EC2 DescribeSubnets 200 request of 1"}},
		"Refused":  {[]int{403}, []string{"EC2 DescribeSubnets 403 attempt", "EC2 DescribeSubnets 403 request of 1"}},
		"Again":    {[]int{500, 0, 200}, []string{"EC2 DescribeSubnets 500 attempt", "EC2 DescribeSubnets 0 attempt", "EC2 DescribeSubnets 200 attempt", "EC2 DescribeSubnets 200 request of 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ACCESS_KEY_ID", "key")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
			synctest.Test(t, func(t *testing.T) {
				c, err := access.Connect(t.Context(), access.Options{Region: "us-west-2", HTTP: &http.Client{Transport: &answering{tc.codes}}})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				c.Observe(func(d access.Done) {
					what := "attempt"
					if d.Attempts > 0 {
						what = fmt.Sprintf("request of %d", d.Attempts)
					}
					if d.Took < time.Second {
						t.Errorf("%s %s took %v", d.Action, what, d.Took)
					}
					got = append(got, fmt.Sprintf("%s %s %d %s", d.Service, d.Action, d.Code, what))
				})
				_, _ = c.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
