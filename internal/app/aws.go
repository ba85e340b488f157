package app

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/ekscluster"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/observe"
)

// AWS is what an operator chooses for EC2.
type AWS struct {
	Settings       aws.Settings
	Region         string                      // empty: what the environment says
	DefaultProfile string                      // instance profile of classes of the older kinds that name none
	Version        string                      // of this program, for the user agent
	ReadOnly       bool                        // calls that do more than look are refused before they are sent
	Acts           func(context.Context) error // asked before every call that does more than look; nil: nothing is
	Cache          *ClassCache                 // of the controller that the driver works for; nil: classes are read from the API server each time
}

// OnAWS returns the driver for EC2. It reads classes from the API server, or from the cache of the controller that it works for.
func OnAWS(ctx context.Context, k *rest.Config, a AWS, log logr.Logger, now clock.Now) (*aws.Driver, error) {
	clients, err := access.Connect(ctx, access.Options{
		Region: a.Region, Version: a.Version, ReadOnly: a.ReadOnly, Acts: a.Acts,
		Say: func(text string) { log.Info("the AWS SDK warns", "warning", text) },
	})
	if err != nil {
		return nil, fmt.Errorf("connect to AWS: %w", err)
	}
	types, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	types = types.Only(clients.Region)
	known, err := awsScheme()
	if err != nil {
		return nil, err
	}
	reader, err := client.New(unthrottled(k), client.Options{Scheme: known})
	if err != nil {
		return nil, fmt.Errorf("read classes: %w", err)
	}
	said := func(s say.Line) {
		fields := make([]any, 0, 2*len(s.Fields)+2)
		for k, v := range s.Fields {
			fields = append(fields, k, v)
		}
		if s.Pool.Name != "" {
			fields = append(fields, "provisioner", s.Pool.Name)
		}
		switch {
		case s.Failed:
			log.Error(nil, s.Message, fields...)
		case s.Debug:
			log.V(1).Info(s.Message, fields...)
		default:
			log.Info(s.Message, fields...)
		}
	}
	a.Settings.Known = knownOf(ctx, k)
	return aws.New(aws.Config{
		Clients: clients, Catalog: types, Classes: classes(a.Cache.over(reader), a), Now: now, Said: said, Settings: a.Settings,
	}), nil
}

// troubled logs calls of the cloud that fail for long, and their end.
func troubled(log logr.Logger) func(cloud.Trouble) {
	return func(t cloud.Trouble) {
		since := t.Since.UTC().Format(time.RFC3339)
		if t.Err != nil {
			log.Error(t.Err, "calls of the cloud fail for long and are tried again", "method", t.Method, "since", since)
		} else {
			log.Info("calls of the cloud succeed again", "method", t.Method)
		}
	}
}

// unthrottled is access for what is read one object at a time, for every claim
// that is launched or compared with its class: by client-go's own five calls a
// second, hundreds of claims would wait for minutes. The API server has priorities of its own.
func unthrottled(k *rest.Config) *rest.Config {
	out := rest.CopyConfig(k)
	out.QPS, out.RateLimiter = -1, nil
	return out
}

// knownOf is what the cluster says of itself, as far as it does.
func knownOf(ctx context.Context, k *rest.Config) ekscluster.Known {
	var out ekscluster.Known
	ca := k.CAData
	if len(ca) == 0 && k.CAFile != "" {
		ca, _ = os.ReadFile(k.CAFile)
	}
	out.CA = base64.StdEncoding.EncodeToString(ca)
	host, err := url.Parse(k.Host)
	if err != nil {
		return out
	}
	address := host.Hostname()
	// client-go takes a pod's address of the API server from there, and does not tell. Only pods can reach it.
	if os.Getenv("KUBERNETES_SERVICE_HOST") != address { //nolint:forbidigo // not a setting of ours
		out.Endpoint = k.Host
		address = ""
	}
	api, err := kubernetes.NewForConfig(k)
	if err != nil {
		return out
	}
	if v, err := api.Discovery().ServerVersion(); err == nil {
		out.Kubernetes = v.Major + "." + strings.TrimSuffix(v.Minor, "+")
	}
	if address == "" {
		if own, err := api.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{}); err == nil {
			address = own.Spec.ClusterIP
		}
	}
	out.ServiceCIDR = servicesAt(address)
	return out
}

// servicesAt is the network of the cluster's services, of which the API server's
// own address is the first. How large it is does not matter to a node.
func servicesAt(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	bits := 16
	if a.Is6() {
		bits = 108
	}
	return netip.PrefixFrom(a, bits).Masked().String()
}

func awsScheme() (*runtime.Scheme, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{awsv1.AddToScheme, awsv1alpha1.AddToScheme, v1alpha5.AddToScheme} {
		if err := add(known); err != nil {
			return nil, fmt.Errorf("know the kinds: %w", err)
		}
	}
	return known, nil
}

// sellsOther reports whether what a class sells may be another: it was edited, or
// has found other reservations, which it looks for every minute.
func sellsOther(was, is client.Object) bool {
	if was.GetGeneration() != is.GetGeneration() {
		return true
	}
	a, oka := was.(*awsv1.EC2NodeClass)
	b, okb := is.(*awsv1.EC2NodeClass)
	return oka && okb && !slices.EqualFunc(a.Status.CapacityReservations, b.Status.CapacityReservations, func(a, b awsv1.CapacityReservation) bool {
		return a.ID == b.ID && a.State == b.State
	})
}

// followClasses has catalogues rebuilt when a class changes or has found other reservations, and classes read
// from the cache. Kinds that the API server does not have are passed over.
func (p *parts) followClasses(ctx context.Context, served func(kind string) bool) error {
	const where = "class"
	for kind, o := range map[string]client.Object{"EC2NodeClass": &awsv1.EC2NodeClass{}, "AWSNodeTemplate": &awsv1alpha1.AWSNodeTemplate{}} {
		if !served(kind) {
			continue
		}
		informer, err := p.m.GetCache().GetInformer(ctx, o)
		if err != nil {
			return fmt.Errorf("watch %s: %w", kind, err)
		}
		changed := func(o any) {
			if class, ok := o.(client.Object); ok {
				p.cloud.Changed(cloud.ClassRef{Group: awsv1.Group, Kind: kind, Name: class.GetName()})
			}
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: p.cluster.Panics.Handle(where, changed),
			UpdateFunc: p.cluster.Panics.HandleUpdate(where, func(was, is any) {
				a, oka := was.(client.Object)
				b, okb := is.(client.Object)
				if !oka || !okb || sellsOther(a, b) {
					changed(is)
				}
				if oka && okb && a.GetGeneration() != b.GetGeneration() {
					p.cluster.Mended(string(observe.TemplateOf(v1.NodeClassReference{Group: awsv1.Group, Kind: kind, Name: b.GetName()}, nil)))
				}
			}),
		}); err != nil {
			return fmt.Errorf("watch %s: %w", kind, err)
		}
	}
	p.Classes.follow(p.m.GetCache())
	return nil
}
