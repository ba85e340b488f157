package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
)

const (
	// chartLabel and chartPort are how the chart's Service is found, and where the controller answers.
	chartLabel = "app.kubernetes.io/name=karpenter"
	chartPort  = "http-metrics"
	// nowPath is where a controller tells what it would decide of now.
	nowPath = "now"
	// maxServiceTries is how often a Service is asked: behind it are replicas of which one leads, and each is as likely to answer.
	maxServiceTries = 8
	// answerTimeout is how long a controller may take to answer.
	answerTimeout = 30 * time.Second
)

// fromController asks the controller of a cluster for the World that it would decide about now, and by what
// options. Where at names none, the Service of the chart is looked for.
func fromController(ctx context.Context, config *rest.Config, at string, namespaces []string) (journal.Entry, Endpoint, error) {
	ctx, stop := context.WithTimeout(ctx, answerTimeout)
	defer stop()
	doors, err := doorsOf(ctx, config, at)
	if err != nil {
		return journal.Entry{}, Endpoint{}, err
	}
	var errs []error
	for _, d := range doors {
		e, err := d.now(ctx, namespaces)
		if err == nil {
			return e, d, nil
		}
		if d.ByRights && errors.Is(err, ErrStranger) {
			continue // most controllers have no such API
		}
		errs = append(errs, fmt.Errorf("%s: %w", d.what, err))
	}
	return journal.Entry{}, Endpoint{}, errors.Join(errs...)
}

// Endpoint is a way to the pages of a controller: its API, its Service NAMESPACE/NAME through the API server's proxy, or their URL.
type Endpoint struct {
	Name     string
	ByRights bool // it is its API, and tells no more than the caller may read

	what string // it is, for a sentence
	open func(ctx context.Context, path string, query url.Values) (io.ReadCloser, error)
}

// Get opens the answer to a path. Of several replicas the one that leads is asked.
func (d Endpoint) Get(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	return d.open(ctx, path, query)
}

// Doors are the ways to what may be the controller of the cluster, by the user's words or the chart's labels.
func (s *Source) Doors(ctx context.Context) ([]Endpoint, error) {
	if err := checkController(s.Controller); err != nil {
		return nil, err
	}
	if s.ByURL() {
		return doorsOf(ctx, nil, s.Controller)
	}
	config, err := s.connect()
	if err != nil {
		return nil, err
	}
	return doorsOf(ctx, config, s.Controller)
}

// ByURL reports whether the user gave the URL of a controller's pages.
func (s *Source) ByURL() bool { return isURL(s.Controller) }

// OfFiles reports whether files are to be looked at, and not a cluster.
func (s *Source) OfFiles() bool { return !s.live() }

func doorsOf(ctx context.Context, config *rest.Config, at string) ([]Endpoint, error) {
	if isURL(at) {
		return []Endpoint{{Name: at, what: at, open: func(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
			return fetch(ctx, strings.TrimSuffix(at, "/")+"/"+path, query)
		}}}, nil
	}
	config = rest.CopyConfig(config)
	config.ContentType = "application/json" // what the proxy says of a Service that cannot be reached is no protobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	services := []string{at}
	var out []Endpoint
	if at == "" {
		out = append(out, Endpoint{Name: viewAPI, ByRights: true, what: "API " + viewAPI, open: func(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
			return throughAPI(ctx, client, path, query)
		}})
		services, err = controllers(ctx, client)
		if err != nil { // a caller without the right to list Services may well be answered
			failed := err
			return append(out, Endpoint{Name: "controller", what: "controller", open: func(context.Context, string, url.Values) (io.ReadCloser, error) { return nil, failed }}), nil
		}
	}
	for _, s := range services {
		out = append(out, Endpoint{Name: s, what: "service " + s, open: func(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
			return throughProxy(ctx, client, s, path, query)
		}})
	}
	return out, nil
}

// now asks what would be decided of now. Where the caller may not read all pods it is given the names of those in some namespaces.
func (d Endpoint) now(ctx context.Context, namespaces []string) (e journal.Entry, err error) {
	var query url.Values
	if d.ByRights && len(namespaces) > 0 {
		query = url.Values{"namespace": namespaces}
	}
	body, err := d.open(ctx, nowPath, query)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	data, err := io.ReadAll(body)
	if err != nil {
		return e, err
	}
	return only(data)
}

func isURL(at string) bool {
	return strings.HasPrefix(at, "http://") || strings.HasPrefix(at, "https://")
}

// checkController says what is wrong with the user's words for a controller.
func checkController(at string) error {
	if namespace, name, ok := strings.Cut(at, "/"); at == "" || isURL(at) || ok && namespace != "" && name != "" {
		return nil
	}
	return verb.BadInputf("--controller is %q, want NAMESPACE/SERVICE or the URL of its pages", at)
}

// controllers are the Services that may be a controller's.
func controllers(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	list, err := client.CoreV1().Services("").List(ctx, metav1.ListOptions{LabelSelector: chartLabel})
	if err != nil {
		return nil, fmt.Errorf("look for its Service: %w", err)
	}
	var out []string
	for _, s := range list.Items {
		for _, p := range s.Spec.Ports {
			if p.Name == chartPort {
				out = append(out, s.Namespace+"/"+s.Name)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no Service has the label %s and a port %s; name it with --controller", chartLabel, chartPort)
	}
	return out, nil
}

// throughProxy asks a Service until the replica that leads answers.
func throughProxy(ctx context.Context, client kubernetes.Interface, service, path string, query url.Values) (io.ReadCloser, error) {
	namespace, name, _ := strings.Cut(service, "/")
	body, err := untilLed(ctx, query, func() *rest.Request {
		return client.CoreV1().RESTClient().Get().Namespace(namespace).Resource("services").Name(name + ":" + chartPort).SubResource("proxy").Suffix(path)
	})
	return body, said(err)
}

// viewAPI is the API group by which a controller answers with no more than the caller may read, and viewRoot where its answers are.
const (
	viewAPI  = "view.tenon.sh"
	viewRoot = "/apis/" + viewAPI + "/v1/"
)

// throughAPI asks the controller's API, with the identity that the API server knows the caller by.
func throughAPI(ctx context.Context, client kubernetes.Interface, path string, query url.Values) (io.ReadCloser, error) {
	at := strings.TrimPrefix(path, "v1/")
	kind, below, _ := strings.Cut(at, "/")
	switch kind {
	case "live": // the API server ends what does not say that it watches
		at, query = "frames", maps.Clone(query)
		if query == nil {
			query = url.Values{}
		}
		query.Set("watch", "true")
	case "pods":
		namespace, name, _ := strings.Cut(below, "/")
		at = "namespaces/" + namespace + "/pods/" + name
	case "nodes", "pools", "decisions":
	default:
		at = "answers/" + at
	}
	body, err := untilLed(ctx, query, func() *rest.Request { return client.CoreV1().RESTClient().Get().AbsPath(viewRoot + at) })
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok && status.ErrStatus.Code == http.StatusForbidden {
		if d := status.ErrStatus.Details; d == nil || d.Group != viewAPI { // the controller says it, who knows why
			return nil, errors.New(status.ErrStatus.Message)
		}
		return nil, fmt.Errorf("%w; where settings.viewAPI of the chart is on, the ClusterRole karpenter-view gives the right to ask", err)
	}
	return body, said(err)
}

// untilLed asks until the replica that leads answers.
func untilLed(ctx context.Context, query url.Values, ask func() *rest.Request) (body io.ReadCloser, err error) {
	for range maxServiceTries {
		request := ask().MaxRetries(0)
		for key, values := range query {
			for _, v := range values {
				request = request.Param(key, v)
			}
		}
		if body, err = request.Stream(ctx); !apierrors.IsServiceUnavailable(err) {
			break
		}
	}
	return body, err
}

// fetch asks a controller at the URL of its pages.
func fetch(ctx context.Context, at string, query url.Values) (io.ReadCloser, error) {
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w; does a controller listen there? kubectl port-forward -n NAMESPACE deployment/karpenter 8080 makes http://127.0.0.1:8080 the pages of the chart's", err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, longestError))
	err = errors.Join(err, answer.Body.Close())
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusNotFound && strings.TrimSpace(string(text)) == pageNotFound:
		return nil, fmt.Errorf("%s: %w", at, ErrStranger)
	}
	return nil, fmt.Errorf("%s: %s", at, strings.TrimSpace(string(text)))
}

// pageNotFound is what a server of Go says of a path that it does not have; what a controller cannot find it says itself.
const pageNotFound = "404 page not found"

// longestError is how much of what went wrong is read.
const longestError = 64 << 10

// only is the one World of an answer.
func only(data []byte) (e journal.Entry, err error) {
	found := errors.New("its answer holds no world")
	err = journal.Read(bytes.NewReader(data), func(got journal.Entry) error {
		e, found = got, nil
		return nil
	})
	return e, errors.Join(err, found)
}

// ErrStranger is that a controller has no such page.
var ErrStranger = errors.New("it does not say what it decides by: it is another program, or an older release")

// said is what a proxy's error means for the caller.
func said(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	text := ""
	if d := status.ErrStatus.Details; d != nil && len(d.Causes) > 0 { // what the controller itself answered
		text = strings.TrimSpace(d.Causes[0].Message)
	}
	switch status.ErrStatus.Code {
	case http.StatusNotFound:
		if text == "" || text == pageNotFound {
			return ErrStranger
		}
	case http.StatusForbidden:
		return fmt.Errorf("%w; a Role with get on services/proxy is needed", err)
	}
	if text != "" {
		return errors.New(text)
	}
	return err
}
