package awsapi_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// world is an account that is being served, and how to reach it.
type world struct {
	*awsapi.Account
	url    string
	config aws.Config // signs as the account's own user
}

var loaded = sync.OnceValues(catalog.Load)

// serve builds an account, serves it and returns how to reach it. Machines boot and end within milliseconds.
func serve(t *testing.T, change func(*awsapi.Config)) world {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	cfg := awsapi.Config{
		Region: "us-west-2", ClusterName: "demo", KubernetesVersion: "1.34", CA: []byte("certificate"), Now: time.Now,
		Limits: map[string]market.Limit{},
		Timing: market.Timing{
			Boot: time.Millisecond, ShutDown: time.Millisecond, Forget: time.Hour, SpotNotice: 5 * time.Millisecond, PricePeriod: time.Hour,
		},
	}
	if change != nil {
		change(&cfg)
	}
	if cfg.Catalog, err = all.Region(cfg.Region); err != nil {
		t.Fatal(err)
	}
	a, err := awsapi.NewAccount(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	url, done, err := awsapi.NewServer(a).Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); <-done })
	return world{Account: a, url: url, config: signed(url, cfg.Region, awsapi.AdminKey)}
}

func signed(url, region, key string) aws.Config {
	return aws.Config{
		Region: region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider(key, awsapi.SecretKey, ""),
	}
}

func (w world) ec2() *ec2.Client { return ec2.NewFromConfig(w.config) }

// once is a client that does not try again.
func (w world) once() *ec2.Client {
	return ec2.NewFromConfig(w.config, func(o *ec2.Options) { o.RetryMaxAttempts = 1 })
}

// code returns the code of AWS's refusal; empty if it is none.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// reply is what a call returned.
type reply[T any] struct {
	v   T
	err error
}

func of[T any](v T, err error) reply[T] { return reply[T]{v, err} }

// must fails the test on an error and returns the value.
func (r reply[T]) must(t *testing.T) T {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.v
}

// eventually waits until what is true, but not for ever.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if is() {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Fatalf("waited in vain: %s", what)
}
