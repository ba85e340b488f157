package aws_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-sh/tenon/internal/cloudtest"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// strange is a server that speaks like EC2 and is not: it leaves out what it need
// not say, does not have every call, and passes over what it does not know.
type strange struct {
	to http.RoundTripper

	lacks    []string // calls it does not have
	sparse   bool     // answers hold only what must be there
	careless bool     // it passes over filters, and answers with more than was asked for
	untagged bool     // machines of a fleet come without the fleet's tags
	retakes  bool     // it does not keep to tokens: what comes twice is done twice
	earnest  []string // calls it carries out although they are dry runs

	taken atomic.Int64
}

// RoundTrip is http.RoundTripper's.
func (s *strange) RoundTrip(r *http.Request) (*http.Response, error) {
	action := r.Header.Get("X-Amz-Target")
	if action == "" {
		action = r.Method + " " + r.URL.Path
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		var err error
		if r, action, err = s.rewrite(r); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(s.lacks, func(call string) bool { return strings.Contains(action, call) }) {
		return &http.Response{
			StatusCode: http.StatusInternalServerError, Status: "500 Internal Server Error", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader("<!doctype html><title>500</title><p>not implemented")),
		}, nil
	}
	answer, err := s.to.RoundTrip(r)
	if err != nil || !s.sparse || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	for _, optional := range optionals() {
		body = optional.ReplaceAll(body, nil)
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Del("Content-Length")
	return answer, nil
}

// rewrite leaves out of a form what the server does not know.
func (s *strange) rewrite(r *http.Request) (*http.Request, string, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, "", err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, "", err
	}
	action := form.Get("Action")
	for key := range form {
		switch {
		case s.careless && (strings.HasPrefix(key, "Filter.") || key == "PathPrefix"),
			s.untagged && action == "CreateFleet" && strings.HasPrefix(key, "TagSpecification."),
			key == "DryRun" && slices.Contains(s.earnest, action):
			form.Del(key)
		case s.retakes && key == "ClientToken":
			form.Set(key, form.Get(key)+"/"+strconv.FormatInt(s.taken.Add(1), 10))
		}
	}
	encoded := form.Encode()
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(encoded)), int64(len(encoded))
	r.Header.Del("Content-Length")
	return r, action, nil
}

// optionals are the parts of EC2's answers that the driver can do without.
func optionals() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, name := range []string{
		"launchTemplateAndOverrides", "errorSet", "availabilityZoneId", "spotInstanceRequestId", "instanceLifecycle", "stateReason", "capacityReservationSpecification",
		"networkCards", "placementGroupInfo", "supportedUsageClasses", "hypervisor", "currentGeneration", "supportedVirtualizationTypes", "ebsInfo",
		"deprecationTime", "creationDate", "imageOwnerAlias",
	} {
		out = append(out, regexp.MustCompile(`(?s)<`+name+`>.*?</`+name+`>`))
	}
	return out
}

// strangers are servers that were never tried here, and what of the law cannot be
// asked of them.
func strangers() map[string]struct {
	server *strange
	spare  func(*cloudtest.Stage)
} {
	lacks := []string{"GetProducts", "DescribeSpotPriceHistory", "DescribeInstanceTypeOfferings", "DescribeCapacityReservations", "DescribePlacementGroups", "managedresources", "DescribeInstanceStatus"}
	return map[string]struct {
		server *strange
		spare  func(*cloudtest.Stage)
	}{
		// What is sold out is said in what a sparse answer leaves out.
		"Sparse": {&strange{sparse: true, careless: true}, func(s *cloudtest.Stage) { s.SellOut = nil }},
		"Poor":   {&strange{lacks: lacks}, func(*cloudtest.Stage) {}},
		// What was bought twice and is not shown yet cannot be known.
		"Retakes": {&strange{retakes: true, careless: true, lacks: lacks}, func(s *cloudtest.Stage) { s.Hide = nil }},
		// Nor can what carries no mark, if the answer that named it was lost.
		"Untagged": {&strange{untagged: true}, func(s *cloudtest.Stage) { s.Fault = nil }},
	}
}

// TestLawBesideAWS holds the driver to the law of drivers where what answers is not AWS.
func TestLawBesideAWS(t *testing.T) {
	credentials(t)
	for name, s := range strangers() {
		t.Run(name, func(t *testing.T) {
			cloudtest.Run(t, func(t *testing.T) cloudtest.Stage {
				w := &virtual{t: t, limits: map[string]market.Limit{}, strange: s.server}
				out := stageOf(w)
				out.Small = true
				s.spare(&out)
				return out
			})
		})
	}
}
