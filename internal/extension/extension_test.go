package extension_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/explain"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/extension"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/webhook"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

const (
	service   = "karpenter"
	namespace = "karpenter"
)

// seen is a cluster of which two namespaces have pods.
func seen(t *testing.T) *world.World {
	t.Helper()
	s := enginetest.NewScene()
	for _, line := range []string{"type large cpu=4 memory=8Gi price=0.0940 zones=a", "pool p", "node n1 cpu=4 memory=8Gi zone=a pool=p type=large"} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	made := s.World()
	b := made.Edit()
	for _, p := range []world.Pod{
		{Key: world.Key{Namespace: "shop", Name: "web-0"}, Labels: map[string]string{"app": "web"}, Node: "n1"},
		{Key: world.Key{Namespace: "vault", Name: "ledger-0"}, Labels: map[string]string{"app": "ledger"}, Node: "n1"},
		{Key: world.Key{Namespace: "vault", Name: "audit-0"}, Labels: map[string]string{"app": "audit"}, Waiting: true},
	} {
		if err := b.SetPod(p); err != nil {
			t.Fatal(err)
		}
	}
	return b.Snapshot(made.At())
}

// address is one of this computer that the API server may lead to.
func address(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("this computer has no address but that of the loopback interface, which Services cannot lead to")
	return ""
}

// serve runs the API behind the API server, and returns its own address.
func serve(t *testing.T) string {
	t.Helper()
	config, at := kubetest.Config(t), address(t)
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	number, ready, tcp, name := int32(port), true, corev1.ProtocolTCP, ""
	group := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": extension.Group, "version": extension.Version, "groupPriorityMinimum": int64(100), "versionPriority": int64(10),
		"service": map[string]any{"name": service, "namespace": namespace, "port": int64(443)},
	}}}
	group.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
	group.SetName(extension.Version + "." + extension.Group)
	objects := []client.Object{
		named(&corev1.Namespace{}, "", namespace), named(&corev1.Namespace{}, "", "shop"), named(&corev1.Namespace{}, "", "vault"),
		named(&corev1.Secret{}, namespace, service+"-cert"),
		named(&corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443, TargetPort: intstr.FromInt(port)}}}}, namespace, service),
		named(&discoveryv1.EndpointSlice{
			AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{at}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}},
			Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &number, Protocol: &tcp}},
		}, namespace, service),
		named(&rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{extension.Group}, Resources: []string{"answers", "decisions", "nodes", "pods", "pools"}, Verbs: []string{"get"}},
			{APIGroups: []string{extension.Group}, Resources: []string{"frames"}, Verbs: []string{"watch"}},
		}}, "", "asks"),
		named(&rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}}}}, "", "reads-pods"),
		named(&rbacv1.ClusterRoleBinding{RoleRef: role("asks"), Subjects: users("all", "shop-only")}, "", "asks"),
		named(&rbacv1.ClusterRoleBinding{RoleRef: role("reads-pods"), Subjects: users("all")}, "", "reads-pods"),
		named(&rbacv1.RoleBinding{RoleRef: role("reads-pods"), Subjects: users("shop-only", "no-answers")}, "shop", "reads-pods"),
		group,
	}
	objects[5].SetLabels(map[string]string{discoveryv1.LabelServiceName: service})
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w := seen(t)
	pages := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, "the page ", r.URL.Path) })
	s := &webhook.Server{
		Client: c, Host: at, Port: port, Service: service, Namespace: namespace, Log: logr.Discard(), Now: time.Now, Group: group.GetName(),
		API: extension.Handler(extension.Config{
			Client: c, Next: func() (journal.Entry, bool) { return journal.Entry{Kind: journal.Buy, World: w}, true }, Pages: pages, Now: clock.Wall,
		}),
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return net.JoinHostPort(at, strconv.Itoa(port))
}

func named[O client.Object](o O, namespace, name string) O {
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func role(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

func users(names ...string) (out []rbacv1.Subject) {
	for _, n := range names {
		out = append(out, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: n})
	}
	return out
}

// as is the cluster as a user has it.
func as(t *testing.T, user string) *kubernetes.Clientset {
	t.Helper()
	config := kubetest.Config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask asks as a user.
func ask(t *testing.T, user, path string, params ...string) (string, error) {
	t.Helper()
	r := as(t, user).RESTClient().Get().AbsPath("/apis/" + extension.Group + "/" + extension.Version + path)
	for i := 0; i < len(params); i += 2 {
		r = r.Param(params[i], params[i+1])
	}
	data, err := r.Do(t.Context()).Raw()
	return string(data), err
}

// A real API server names its callers, and each is told of no more pods than he may list.
func TestCallersAreToldWhatTheyMayRead(t *testing.T) {
	at := serve(t)
	kubetest.Within(t, time.Minute, func() error { // its certificate is made, and the API server sees it
		_, err := ask(t, "all", "/answers/now")
		return err
	})
	secrets := []string{"vault", "ledger", "audit"}
	tests := map[string]struct {
		why, user, path string
		params          []string
		says            []string // and nothing of secrets; none: it is refused
		all             bool     // secrets are told
		refused         string
	}{
		"WholeWorld":  {why: "A user who may list all pods is shown all.", user: "all", path: "/answers/now", says: []string{"shop", "web-0", "ledger-0"}, all: true},
		"SomeWorld":   {why: "Others get the names of pods that they may list.", user: "shop-only", path: "/answers/now", params: []string{"namespace", "shop"}, says: []string{"shop", "web-0", "hidden_1", "tenon-decision/v2"}},
		"NotAsked":    {why: "Only namespaces that are asked about are reviewed.", user: "shop-only", path: "/answers/now", says: []string{"hidden_2", "n1"}},
		"Beyond":      {why: "To ask about a namespace gives no right to it.", user: "shop-only", path: "/answers/now", params: []string{"namespace", "shop", "namespace", "vault"}, says: []string{"web-0", "hidden_1"}},
		"Node":        {why: "A node tells that it runs pods of others, and not which.", user: "shop-only", path: "/nodes/n1", params: []string{"namespace", "shop"}, says: []string{"shop/web-0", "hidden_1/pod_"}},
		"Pool":        {why: "A pool is told.", user: "shop-only", path: "/pools/p", says: []string{"NodePool p"}},
		"OwnPod":      {why: "A pod of a namespace that one may read.", user: "shop-only", path: "/namespaces/shop/pods/web-0", says: []string{"shop/web-0"}},
		"OthersPod":   {why: "None of another.", user: "shop-only", path: "/namespaces/vault/pods/ledger-0", refused: "you may not list the pods of namespace"},
		"NoSuchPod":   {why: "Nor whether there is one.", user: "shop-only", path: "/namespaces/vault/pods/none", refused: "you may not list the pods of namespace"},
		"Frames":      {why: "The live page tells of all.", user: "shop-only", path: "/frames", params: []string{"watch", "true"}, refused: "you may not list those"},
		"Decisions":   {why: "So do decisions.", user: "shop-only", path: "/decisions/abc", refused: "you may not list those"},
		"AllFrames":   {why: "They are for those who may.", user: "all", path: "/frames", params: []string{"watch", "true"}, says: []string{"the page /v1/live"}},
		"AllDecision": {why: "So are decisions.", user: "all", path: "/decisions/abc", says: []string{"the page /v1/decisions/abc"}},
		"Labels":      {why: "Labels of nodes are no secret.", user: "shop-only", path: "/answers/labels", params: []string{"key", "topology.kubernetes.io/zone"}, says: []string{"n1"}},
		"NoRole":      {why: "Without the role the API server itself refuses.", user: "no-answers", path: "/answers/now", refused: "cannot get resource"},
		"Many":        {why: "Reviews are bounded.", user: "shop-only", path: "/answers/now", params: slicesOf("namespace", 17), refused: "16 may be"},
		"Unknown":     {why: "What there is not is said.", user: "all", path: "/answers/nothing", refused: "is not answered"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, test.user, test.path, test.params...)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error()+got, test.refused) {
					t.Fatalf("%s\nwant %q, got %v: %s", test.why, test.refused, err, got)
				}
			} else if err != nil {
				t.Fatalf("%s\n%v: %s", test.why, err, got)
			}
			for _, want := range test.says {
				if !strings.Contains(got, want) {
					t.Errorf("%s\nno %q in %.3000s", test.why, want, got)
				}
			}
			for _, secret := range secrets {
				if !test.all && test.refused == "" && strings.Contains(got, secret) {
					t.Errorf("%s\nit tells %q: %.3000s", test.why, secret, got)
				}
			}
		})
	}
	t.Run("Proxies", noProxies)
	t.Run("CommandLine", commandLine)
	t.Run("Forged", func(t *testing.T) { forged(t, at) })
}

func slicesOf(key string, n int) (out []string) {
	for i := range n {
		out = append(out, key, fmt.Sprint("n", i))
	}
	return out
}

// noProxies sees that a user who may read one namespace reaches the controller by none of the proxies, which name no user.
func noProxies(t *testing.T) {
	t.Helper()
	c := as(t, "shop-only").CoreV1().RESTClient()
	for what, r := range map[string]*rest.Request{
		"services/proxy":   c.Get().Namespace(namespace).Resource("services").Name("karpenter:http-metrics").SubResource("proxy").Suffix("now"),
		"pods/proxy":       c.Get().Namespace(namespace).Resource("pods").Name("karpenter-0:8080").SubResource("proxy").Suffix("now"),
		"pods/portforward": c.Post().Namespace(namespace).Resource("pods").Name("karpenter-0").SubResource("portforward"),
	} {
		if _, err := r.Do(t.Context()).Raw(); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// commandLine asks by the command line, with a kubeconfig that names the user and nothing of the controller.
func commandLine(t *testing.T) {
	say := func(user string, args ...string) string {
		k := kubetest.Config(t)
		config := clientcmdapi.NewConfig()
		config.Clusters["test"] = &clientcmdapi.Cluster{Server: k.Host, CertificateAuthorityData: k.CAData, CertificateAuthority: k.CAFile}
		config.AuthInfos["test"] = &clientcmdapi.AuthInfo{
			ClientCertificateData: k.CertData, ClientKeyData: k.KeyData, ClientCertificate: k.CertFile, ClientKey: k.KeyFile, Token: k.BearerToken, Impersonate: user,
		}
		config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test", Namespace: "shop"}
		config.CurrentContext = "test"
		file := filepath.Join(t.TempDir(), "kubeconfig")
		if err := clientcmd.WriteToFile(*config, file); err != nil {
			t.Fatal(err)
		}
		cmd := explain.Command()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceUsage = true
		cmd.SetArgs(append(args, "--kubeconfig", file))
		if err := cmd.Execute(); err != nil {
			out.WriteString(err.Error())
		}
		return out.String()
	}
	for _, c := range []struct {
		why, user string
		args      []string
		says      []string
		not       []string
	}{
		{"A pod of one's own.", "shop-only", []string{"pod", "web-0", "-n", "shop"}, []string{"shop/web-0", "runs on node n1", "those of 1 namespace are there under other names"}, []string{"vault", "ledger"}},
		{"The namespace is the kubeconfig's.", "shop-only", []string{"node", "n1"}, []string{"shop/web-0", "hidden_1/pod_"}, []string{"vault", "ledger"}},
		{"Another's pod is not found.", "shop-only", []string{"pod", "ledger-0", "-n", "vault"}, []string{"ledger-0", "hidden"}, []string{"runs on"}},
		{"A user who may read all reads all.", "all", []string{"pod", "ledger-0", "-n", "vault"}, []string{"vault/ledger-0", "runs on node n1"}, []string{"hidden_", "other names"}},
		{"A user who may not ask is told what would help.", "no-answers", []string{"pod", "web-0", "-n", "shop"}, []string{"ask for the right to list them"}, []string{"ledger"}},
	} {
		got := say(c.user, c.args...)
		for _, want := range c.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s\nno %q in %s", c.why, want, got)
			}
		}
		for _, secret := range c.not {
			if strings.Contains(got, secret) && !slices.Contains(c.args, secret) {
				t.Errorf("%s\n%q in %s", c.why, secret, got)
			}
		}
	}
}

// forged asks past the API server, with its headers: without a certificate, and with one that anybody can make.
func forged(t *testing.T, at string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "front-proxy-client"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, own, own, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	admin := kubetest.Config(t)
	certificates := map[string][]tls.Certificate{"none": nil, "its own": {{Certificate: [][]byte{signed}, PrivateKey: key}}}
	if len(admin.CertData) > 0 { // of the cluster's authority, and not the front proxy's
		pair, err := tls.X509KeyPair(admin.CertData, admin.KeyData)
		if err != nil {
			t.Fatal(err)
		}
		certificates["another of the cluster"] = []tls.Certificate{pair}
	}
	for what, certificate := range certificates {
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificate}} //nolint:gosec // it is the asker who is not to be trusted
		for _, path := range []string{"/answers/now", ""} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+at+"/apis/"+extension.Group+"/"+extension.Version+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Remote-User", "all")
			r.Header.Set("X-Remote-Group", "system:masters")
			answer, err := (&http.Client{Transport: transport}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusUnauthorized || strings.Contains(string(text), "web-0") {
				t.Errorf("with a certificate of %s: %d %s", what, answer.StatusCode, text)
			}
		}
		transport.CloseIdleConnections()
	}
}
