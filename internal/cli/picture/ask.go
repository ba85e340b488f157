package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	// asked is how often a Service is asked: behind it are replicas of which one leads, and each is as likely to answer.
	asked = 8
	// patience is how long a controller may take to answer.
	patience = 30 * time.Second
)

// fromController asks the controller of a cluster for the World that it would decide about now, and by what
// options: through the API server's proxy to its Service NAMESPACE/NAME, or at the URL of its pages. Where at
// says neither, the Service of the chart is looked for.
func fromController(ctx context.Context, config *rest.Config, at string) (journal.Entry, string, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if isURL(at) {
		e, err := fetch(ctx, strings.TrimSuffix(at, "/")+"/"+nowPath)
		return e, at, err
	}
	config = rest.CopyConfig(config)
	config.ContentType = "application/json" // what the proxy says of a Service that cannot be reached is no protobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return journal.Entry{}, "", err
	}
	services := []string{at}
	if at == "" {
		if services, err = controllers(ctx, client); err != nil {
			return journal.Entry{}, "", err
		}
	}
	var errs []error
	for _, s := range services {
		namespace, name, _ := strings.Cut(s, "/")
		e, err := answer(ctx, client, namespace, name)
		if err == nil {
			return e, s, nil
		}
		errs = append(errs, fmt.Errorf("service %s: %w", s, err))
	}
	return journal.Entry{}, "", errors.Join(errs...)
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

// answer asks one Service until the replica that leads answers.
func answer(ctx context.Context, client kubernetes.Interface, namespace, name string) (e journal.Entry, err error) {
	var data []byte
	for range asked {
		result := client.CoreV1().RESTClient().Get().Namespace(namespace).Resource("services").Name(name + ":" + chartPort).SubResource("proxy").Suffix(nowPath).MaxRetries(0).Do(ctx)
		data, _ = result.Raw()
		err = result.Error() // which knows what a proxy says, other than the error of Raw
		if !apierrors.IsServiceUnavailable(err) {
			break
		}
	}
	if err != nil {
		return e, said(err)
	}
	return only(data)
}

// fetch asks a controller at the URL of its pages.
func fetch(ctx context.Context, url string) (e journal.Entry, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return e, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	data, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return e, err
	case answer.StatusCode == http.StatusNotFound:
		return e, fmt.Errorf("%s: %w", url, errStranger)
	case answer.StatusCode != http.StatusOK:
		return e, fmt.Errorf("%s: %s", url, strings.TrimSpace(string(data)))
	}
	return only(data)
}

// only is the one World of an answer.
func only(data []byte) (e journal.Entry, err error) {
	found := errors.New("its answer holds no world")
	err = journal.Read(bytes.NewReader(data), func(got journal.Entry) error {
		e, found = got, nil
		return nil
	})
	return e, errors.Join(err, found)
}

var errStranger = errors.New("it does not tell what it decides by: it is another program, or an older release")

// said is what a proxy's error means for whoever asked.
func said(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	switch status.ErrStatus.Code {
	case http.StatusNotFound:
		return errStranger
	case http.StatusForbidden:
		return fmt.Errorf("%w; a Role with get on services/proxy is needed", err)
	}
	if d := status.ErrStatus.Details; d != nil && len(d.Causes) > 0 { // what the controller itself answered
		if text := strings.TrimSpace(d.Causes[0].Message); text != "" {
			return errors.New(text)
		}
	}
	return err
}
