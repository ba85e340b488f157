package access

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// torn answers every call, and breaks off where the answer is over.
type torn struct{}

func (torn) Do(r *http.Request) (*http.Response, error) {
	const answer = `<DescribeSubnetsResponse><requestId>1</requestId><subnetSet/></DescribeSubnetsResponse>`
	body := io.MultiReader(strings.NewReader(answer), breaks{})
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
}

type breaks struct{}

func (breaks) Read([]byte) (int, error) { return 0, errors.New("the connection was closed") }

// What the SDK has to say goes where the program's log goes, and not beside it.
func TestTheSDKIsHeard(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	var heard []string
	clients, err := Connect(t.Context(), Options{Region: "us-east-1", HTTP: torn{}, Say: func(text string) { heard = append(heard, text) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}); err != nil {
		t.Fatal(err)
	}
	if len(heard) != 1 || !strings.Contains(heard[0], "the connection was closed") {
		t.Errorf("heard %q", heard)
	}
}
