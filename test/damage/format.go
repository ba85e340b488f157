package damage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/api/aws/v1alpha1"
	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	overlayv1 "github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cli/controller"
	"github.com/tenon-sh/tenon/internal/cli/convert"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/webhook"
)

// Format is one form of input.
type Format struct {
	Name    string
	samples func() [][]byte
	// read does with an input all that the program does with it before it is acted
	// on. It returns why the input is refused.
	read func([]byte) error
	// place is what a refusal names, beside what is wrong; nil where nothing is refused.
	place *regexp.Regexp
}

// Formats are all that is read from people, from the API server, from AWS and from disks.
func Formats() []Format { return formats() }

var formats = sync.OnceValue(func() []Format {
	document := regexp.MustCompile(`document \d+ \(line \d+\)|byte \d+ |no document in it|[A-Z]\w+ [^ ]*:|^- |NodePool|NodeTemplate|Provisioner`)
	all := []Format{
		{"manifests", texts(manifests), readManifests, document},
		{"devices", texts(allocated), readManifests, document},
		{"converted", texts(converted), runConvert, document},
		{"objects", func() [][]byte { return documents(manifests + "\n---\n" + classes) }, readObject, nil},
		{"overlays", func() [][]byte { return documents(overlays) }, readOverlay, regexp.MustCompile(`spec\.|document`)},
		{"reviews", texts(reviews), readReview, regexp.MustCompile(`review|spec|metadata|JSON|^read `)},
		{"world", worlds, readWorld, regexp.MustCompile(`^read world: `)},
		{"journal", journals, readJournal, regexp.MustCompile(`decision \d+|no decisions|uncompress`)},
		{"recording", recordings, readRecording, regexp.MustCompile(`at byte \d+|in its first line|it is no recording|its form is`)},
		{"notices", texts(notices...), readNotice, regexp.MustCompile(`^read `)},
		{"userdata", texts(userData...), readUserData, regexp.MustCompile(`user ?[dD]ata|part`)},
		{"kubelet", texts(kubeletSettings), readKubelet, regexp.MustCompile(`^kubelet settings: `)},
		{"catalogue", catalogues, readCatalogue, regexp.MustCompile(`catalogue`)},
		{"types", texts(types), readTypes, regexp.MustCompile(`^read catalogue |^-: |offer|catalogue`)},
		{"settings", texts(settings), readSettings, regexp.MustCompile(`--[a-z]|[A-Z]+_[A-Z]|argument|takes no|unknown|gate|log level`)},
	}
	for i := range all {
		all[i].samples = sync.OnceValue(all[i].samples)
	}
	return all
})

func texts(all ...string) func() [][]byte {
	return func() (out [][]byte) {
		for _, s := range all {
			out = append(out, []byte(s))
		}
		return out
	}
}

// documents are the documents of a text, each by itself.
func documents(text string) (out [][]byte) {
	for doc := range strings.SplitSeq(text, "\n---\n") {
		out = append(out, []byte(doc))
	}
	return out
}

func readManifests(data []byte) error { return plan(data, []byte(types)) }

// readTypes plans for a pod with a catalogue of the user's.
func readTypes(data []byte) error { return plan([]byte(waiting), data) }

// plan plans for objects with a catalogue: the bundled one takes long to be made ready.
func plan(data, catalogue []byte) error {
	file, err := os.CreateTemp("", "damage-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := file.Write(catalogue); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	var s snapshot.Source
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.Flags(flags)
	if err := flags.Parse([]string{"-f", "-", "--catalog", file.Name(), "--ignore-dra-requests=false"}); err != nil {
		return err
	}
	in, err := s.Read(context.Background(), bytes.NewReader(data), io.Discard)
	if err != nil {
		return err
	}
	w, err := in.World(1_750_000_000)
	if err != nil {
		return err
	}
	provision.Decide(w, provision.Options{Steps: 200})
	return nil
}

// errHalf is a fault of whatever refuses an input and uses a part of it.
var errHalf = errors.New("half of it is read")

func runConvert(data []byte) error { return run(convert.Command(), data, "convert", "-f", "-") }

// run runs a verb. Its error is what it says on standard error.
func run(cmd *cobra.Command, in []byte, args ...string) error {
	root := &cobra.Command{Use: "tenon", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(cmd)
	var out, said bytes.Buffer
	if verb.Run(context.Background(), root, args, verb.Streams{In: bytes.NewReader(in), Out: &out, Err: &said}) == verb.OK {
		return nil
	}
	return errors.New(strings.TrimSpace(said.String()))
}

// readObject reads an object as the API server stores it, whatever its kind, and observes it.
func readObject(data []byte) error {
	data, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil //nolint:nilerr // nothing that is no JSON comes from an API server
	}
	into := func(o any) bool { return json.Unmarshal(data, o) == nil }
	b := world.NewBuilder()
	if o := (karpv1.NodePool{}); into(&o) {
		_ = b.SetPool(observe.NodePool(&o))
	}
	if o := (v1alpha5.Provisioner{}); into(&o) {
		_ = b.SetPool(observe.Provisioner(&o))
		_, _ = nodeclass.FromProvisioner(&o, "profile")
	}
	if o := (karpv1.NodeClaim{}); into(&o) {
		_ = b.SetClaim(observe.Claim(&o))
	}
	if o := (corev1.Node{}); into(&o) {
		_ = b.SetNode(observe.Node(&o, nil))
	}
	if o := (corev1.Pod{}); into(&o) {
		_ = b.SetPod(observe.Pod(&o))
	}
	if o := (awsv1.EC2NodeClass{}); into(&o) {
		_ = nodeclass.FromV1(&o, "bundle")
	}
	if o := (v1alpha1.AWSNodeTemplate{}); into(&o) {
		_ = nodeclass.FromTemplate(&o, "profile")
	}
	if o, t := (v1beta1.CapacityBuffer{}), (corev1.PodTemplateSpec{}); into(&o) && into(&t) {
		pod := observe.BufferPod(&o, &t)
		n, _ := observe.BufferSize(&o, pod, nil)
		for _, p := range observe.VirtualPods(&o, pod, min(n, 10)) {
			_ = b.SetPod(p)
		}
	}
	provision.Decide(b.Snapshot(1_750_000_000), provision.Options{Steps: 200})
	return nil
}

func readOverlay(data []byte) error {
	var o overlayv1.NodeOverlay
	if err := yaml.Unmarshal(data, &o); err != nil {
		return nil //nolint:nilerr // the API server does not store it
	}
	_, err := observe.NodeOverlay(&o)
	return err
}

func readReview(body []byte) error {
	h := webhook.Handler()
	var refused []string
	for _, path := range []string{"/validate", "/default"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, bytes.NewReader(body)))
		if w.Code != http.StatusOK {
			refused = append(refused, "review: "+strings.TrimSpace(w.Body.String()))
			continue
		}
		var got admissionv1.AdmissionReview
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Response == nil {
			return fmt.Errorf("%w: the answer is %.200s", errHalf, w.Body.String())
		}
		if r := got.Response; !r.Allowed {
			if r.Result == nil || r.Result.Message == "" || len(r.Patch) > 0 {
				return errHalf
			}
			refused = append(refused, r.Result.Message)
		}
	}
	if len(refused) > 0 {
		return errors.New(refused[0])
	}
	return nil
}

func worlds() (out [][]byte) {
	for _, lines := range []string{
		"pool general\ntype t0 cpu=4 memory=8Gi price=0.1 zones=a,b\npod p0 cpu=500m memory=1Gi zone=a\npod p1 cpu=3 memory=1Gi port=80",
		"pool general\ntype t0 cpu=4 memory=8Gi price=0.1 zones=a,b\nnode n type=t0 zone=a\npod p0 cpu=500m memory=1Gi node=n\npod p1 x3 cpu=3 memory=1Gi apart=host:p1",
	} {
		s := enginetest.NewScene()
		for line := range strings.Lines(lines) {
			if err := s.Line(strings.TrimSpace(line)); err != nil {
				panic(err) // a sample of ours
			}
		}
		data, err := json.Marshal(s.World())
		if err != nil {
			panic(err)
		}
		out = append(out, data)
	}
	return out
}

func readWorld(data []byte) error {
	w, err := world.Read(data)
	if err != nil {
		return err
	}
	provision.Decide(w, provision.Options{Steps: 200})
	return nil
}

func journals() (out [][]byte) {
	var whole bytes.Buffer
	for _, data := range worlds() {
		w, err := world.Read(data)
		if err != nil {
			panic(err)
		}
		if err := (journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{}), Release: "v1"}).Write(&whole); err != nil {
			panic(err)
		}
	}
	return [][]byte{whole.Bytes()}
}

func readJournal(data []byte) error {
	return journal.Read(bytes.NewReader(data), func(e journal.Entry) error {
		if e.World == nil {
			return errHalf
		}
		return nil
	})
}

func recordings() (out [][]byte) {
	var whole bytes.Buffer
	enc, err := record.NewEncoder(&whole)
	for i, data := range slices.Concat(worlds(), worlds()) {
		if err != nil {
			break
		}
		var w *world.World
		if w, err = world.Read(data); err == nil {
			err = enc.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{}), Release: "v1"})
		}
		if i == 1 {
			enc.Begin()
		}
	}
	if err != nil {
		panic(err)
	}
	return [][]byte{whole.Bytes()}
}

func readRecording(data []byte) error {
	return record.Read(bytes.NewReader(data), func(e journal.Entry) error {
		if e.World == nil {
			return errHalf
		}
		return nil
	})
}

func readNotice(data []byte) error {
	n, err := notice.Parse(string(data))
	if err != nil && len(n.Instances) > 0 {
		return errHalf
	}
	return err
}

func readUserData(data []byte) error {
	most := int64(58)
	families := []string{"AL2", "AL2023", "Windows2022", "Custom"}
	switch {
	case bytes.HasPrefix(data, []byte("[")):
		families = []string{"Bottlerocket"}
	case bytes.HasPrefix(data, []byte("api")):
		families = []string{"AL2023"}
	}
	for _, family := range families {
		got, err := bootstrap.UserData(bootstrap.Node{
			Cluster: bootstrap.Cluster{Name: "demo", Endpoint: "https://abc", CA: "Y2E=", DNS: "10.0.0.10", ServiceCIDR: "10.0.0.0/16"},
			Family:  family, Own: string(data), Labels: map[string]string{"team": "a"}, Kubelet: kubelet.Config{MaxPods: &most},
			Taints: []world.Taint{{Key: "gpu", Effect: world.NoSchedule}},
		})
		if err != nil {
			if got != "" {
				return errHalf
			}
			return err
		}
	}
	return nil
}

func readKubelet(data []byte) error {
	_, err := kubelet.Parse(data)
	return err
}

func catalogues() [][]byte {
	small, err := catalog.Encode(
		[]catalog.Type{{Name: "a.large", Cards: []catalog.Card{{}}}, {Name: "b.large", Cards: []catalog.Card{{}, {}}}},
		[]catalog.Sheet{{Name: "r", Zones: []catalog.Zone{{Name: "ra"}, {Name: "rb"}}}},
	)
	if err != nil {
		panic(err)
	}
	return [][]byte{small}
}

func readCatalogue(data []byte) error {
	c, err := catalog.Decode(data)
	if err != nil && c != nil {
		return errHalf
	}
	return err
}

// readSettings takes flags and variables, a line each, as the controller does when it starts.
func readSettings(data []byte) error {
	var args []string
	env := map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if k, v, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "-") {
			env[k] = v
		} else if line != "" && !strings.HasPrefix(line, "--help") && line != "-h" {
			args = append(args, line)
		}
	}
	_, err := controller.Understood(context.Background(), args, func(k string) string { return env[k] })
	return err
}
