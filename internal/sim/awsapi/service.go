package awsapi

import (
	"net/http"
	"strings"
)

// The ways services speak.
type speech int

const (
	query  speech = iota // a form in, XML out
	target               // JSON, the action in a header
	rest                 // JSON, the action in method and path
)

// protocol tells how a request speaks. SQS understands JSON and, from older clients, forms.
func protocol(service string, r *http.Request) speech {
	switch service {
	case "sqs":
		if r.Header.Get("X-Amz-Target") == "" {
			return query
		}
		return target
	case "ssm", "pricing":
		return target
	case "eks", "arc-zonal-shift":
		return rest
	default:
		return query
	}
}

// serviceOf finds the service a request is for; empty if only its action can tell.
func serviceOf(r *http.Request) string {
	if scope, ok := scopeOf(r); ok {
		return scope.service
	}
	prefix, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if service := serviceOfTarget(prefix); service != "" {
		return service
	}
	host, _, _ := strings.Cut(r.Host, ":")
	for part := range strings.SplitSeq(host, ".") {
		switch part {
		case "ec2", "iam", "sts", "ssm", "sqs", "eks", "pricing", "arc-zonal-shift", "cloudformation":
			return part
		}
	}
	if strings.HasPrefix(r.URL.Path, "/clusters") {
		return "eks"
	}
	if strings.HasPrefix(r.URL.Path, "/managedresources") {
		return "arc-zonal-shift"
	}
	return ""
}

// serviceOfTarget finds the service that a JSON call names in its header; empty if it names none.
func serviceOfTarget(prefix string) string {
	switch prefix {
	case "AmazonSSM":
		return "ssm"
	case "AmazonSQS":
		return "sqs"
	case "AWSPriceListService":
		return "pricing"
	default:
		return ""
	}
}

// serviceOfAction guesses the service of an unsigned query request.
func serviceOfAction(action string) string {
	if strings.HasPrefix(action, "AssumeRole") || action == "GetCallerIdentity" {
		return "sts"
	}
	return "ec2"
}

// scope is what a signature says of the one who signed.
type scope struct {
	key, region, service string
}

// scopeOf reads the credential scope: <key>/<date>/<region>/<service>/aws4_request.
func scopeOf(r *http.Request) (scope, bool) {
	credential := r.URL.Query().Get("X-Amz-Credential")
	if header := r.Header.Get("Authorization"); header != "" {
		_, after, found := strings.Cut(header, "Credential=")
		if !found {
			return scope{}, false
		}
		credential, _, _ = strings.Cut(after, ",")
	}
	parts := strings.Split(credential, "/")
	if len(parts) != 5 {
		return scope{}, false
	}
	return scope{key: parts[0], region: parts[2], service: parts[3]}, true
}

func restAction(service, method, path string) string {
	part := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case service == "eks" && method == http.MethodGet && part[0] == "clusters" && len(part) == 2:
		return "DescribeCluster"
	case service == "eks" && method == http.MethodGet && part[0] == "clusters" && len(part) == 1:
		return "ListClusters"
	case service == "arc-zonal-shift" && method == http.MethodGet && part[0] == "managedresources" && len(part) >= 2:
		return "GetManagedResource"
	default:
		return method + " " + path
	}
}
