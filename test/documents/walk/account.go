package walk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/tenon-sh/tenon/internal/sim/awsapi"
)

// AWS makes a call as the `aws` command does, by the name of the service and the action, and returns the answer.
func (r *Reader) AWS(service, action string, parameters ...string) (string, error) {
	form := url.Values{"Action": {action}}
	for i := 0; i+1 < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	return r.send(service, http.MethodPost, "/", form.Encode())
}

// Cluster is what EKS says of the cluster.
func (r *Reader) Cluster() string {
	r.t.Helper()
	out, err := r.send("eks", http.MethodGet, "/clusters/"+r.Vars["CLUSTER_NAME"], "")
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// Must is what an AWS call answers, which has to succeed.
func (r *Reader) Must(out string, err error) string {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *Reader) send(service, method, path, body string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, r.contact.AWS+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	if body != "" {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	}
	sum := sha256.Sum256([]byte(body))
	signer := aws.Credentials{AccessKeyID: awsapi.AdminKey, SecretAccessKey: awsapi.SecretKey}
	if err := v4.NewSigner().SignHTTP(ctx, signer, q, hex.EncodeToString(sum[:]), service, r.Vars["AWS_DEFAULT_REGION"], time.Now()); err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s", service, body, text)
	}
	return string(text), err
}
