package access

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// What the guard holds back are calls of the controller's, not those by which
// the SDK comes by credentials and a region: of an EKS pod's identity, and of the machine.
func TestCredentialsArePrivate(t *testing.T) {
	const key = `{"Code": "Success", "AccessKeyId": "AKIDGIVEN", "SecretAccessKey": "secret", "Token": "token", "Expiration": "2099-01-01T00:00:00Z"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			io.WriteString(w, "token")
		case "/latest/dynamic/instance-identity/document":
			io.WriteString(w, `{"region": "eu-south-2"}`)
		case "/latest/meta-data/iam/security-credentials/":
			io.WriteString(w, "role")
		case "/latest/meta-data/iam/security-credentials/role", "/pod":
			io.WriteString(w, key)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()

	for name, env := range map[string]map[string]string{
		"pod identity": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/pod"},
		"machine":      {"AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL},
	} {
		t.Run(name, func(t *testing.T) {
			for _, k := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_EC2_METADATA_DISABLED"} {
				t.Setenv(k, "")
			}
			t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
			t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL)
			for k, v := range env {
				t.Setenv(k, v)
			}
			net := &signed{machine: server.Listener.Addr().String()}
			clients, err := Connect(t.Context(), Options{HTTP: net, ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if clients.Region != "eu-south-2" {
				t.Errorf("region %q", clients.Region)
			}
			_, err = clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}, func(o *ec2.Options) { o.RetryMaxAttempts = 1 })
			if !strings.Contains(net.authorization, "AKIDGIVEN") {
				t.Errorf("the call is signed %q: %v", net.authorization, err)
			}
		})
	}
}

// signed is a network that reaches the machine's own services alone, and notes
// who signed what would be sent to others.
type signed struct{ machine, authorization string }

func (s *signed) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Host == s.machine {
		return http.DefaultClient.Do(r)
	}
	s.authorization = r.Header.Get("Authorization")
	return nil, io.ErrUnexpectedEOF
}
