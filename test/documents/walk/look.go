package walk

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/playground/document"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
)

// Over passes over all that the log says so far.
func (r *Reader) Over() { r.read = len(r.text()) }

func (r *Reader) text() string { return r.told.Log.String() }

// Log returns what the log says since it was last passed over.
func (r *Reader) Log() string { return r.text()[r.read:] }

// A Line is one line of the log, taken apart.
type Line = document.Line

// Line waits for a line whose message matches a pattern as a whole, and returns it.
func (r *Reader) Line(limit time.Duration, pattern string) Line {
	r.t.Helper()
	var found Line
	r.Within(limit, func() error {
		lines := r.Lines(pattern)
		if len(lines) == 0 {
			return fmt.Errorf("the log has no line %q", pattern)
		}
		found = lines[0]
		return nil
	})
	return found
}

// Lines returns the lines so far whose message matches a pattern as a whole.
func (r *Reader) Lines(pattern string) []Line {
	whole := regexp.MustCompile("^(?:" + pattern + ")$")
	var out []Line
	for text := range strings.Lines(r.Log()) {
		if l, ok := document.ParseLine(text); ok && whole.MatchString(l.Message) {
			out = append(out, l)
		}
	}
	return out
}

// Says waits for a line of a level with fields, each in the form "key": "value".
func (r *Reader) Says(limit time.Duration, level, pattern string, fields ...string) Line {
	r.t.Helper()
	l := r.Line(limit, pattern)
	if l.Level != level {
		r.t.Errorf("the level of %q is %s, want %s", l.Message, l.Level, level)
	}
	if want := `{"commit": "` + Commit + `"`; !strings.HasPrefix(l.Fields, want) {
		r.t.Errorf("the fields of %q are %s, want them to begin with %s", l.Message, l.Fields, want)
	}
	for _, f := range fields {
		if !strings.Contains(l.Fields, f) {
			r.t.Errorf("the fields of %q are %s, want %s", l.Message, l.Fields, f)
		}
	}
	return l
}

// InOrder waits for lines that match the patterns, in that order. What they tell of may be seen before they are read.
func (r *Reader) InOrder(patterns ...string) {
	r.t.Helper()
	r.Within(time.Minute, func() error {
		rest := r.Log()
		for _, p := range patterns {
			at := regexp.MustCompile("(?m)\t" + p).FindStringIndex(rest)
			if at == nil {
				return fmt.Errorf("no line %q after those before it", p)
			}
			rest = rest[at[1]:]
		}
		return nil
	})
}

// Count returns how many lines match.
func (r *Reader) Count(pattern string) int {
	return len(regexp.MustCompile("(?m)\t"+pattern).FindAllString(r.Log(), -1))
}

// Prompt checks that the first machine since the log was passed over was bought soon after the first of the pods was there,
// whose times are told in whole seconds.
func (r *Reader) Prompt(namespace, selector string) {
	r.t.Helper()
	const limit = 30 * time.Second // on a computer that does much else; idle it is below 2
	pods, err := r.Pods(namespace, selector)
	if err != nil || len(pods) == 0 {
		r.t.Fatalf("%d pods of %s: %v", len(pods), selector, err)
	}
	first := slices.MinFunc(pods, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	bought := r.Line(time.Minute, `Launched instance: .*`)
	took := bought.When().Sub(first.CreationTimestamp.Time)
	r.t.Logf("from the first pod to the first machine: between %s and %s", (took - time.Second).Round(time.Millisecond), took.Round(time.Millisecond))
	if took > limit {
		r.t.Errorf("the first machine was bought %s after the first pod", took)
	}
}

// Pods returns the pods that a label selector picks in a namespace.
func (r *Reader) Pods(namespace, selector string) ([]corev1.Pod, error) {
	l, err := r.Kube.CoreV1().Pods(namespace).List(context.Background(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	return l.Items, nil
}

// Running waits until exactly so many of the pods run, and returns them.
func (r *Reader) Running(limit time.Duration, namespace, selector string, want int) []corev1.Pod {
	r.t.Helper()
	var out []corev1.Pod
	r.Within(limit, func() error {
		pods, err := r.Pods(namespace, selector)
		if err != nil {
			return err
		}
		out = out[:0]
		for _, p := range pods {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				out = append(out, p)
			}
		}
		if len(out) != want {
			return fmt.Errorf("%d of %d pods of %s run, want %d", len(out), len(pods), selector, want)
		}
		return nil
	})
	return out
}

// Nodes returns the nodes that a label selector picks.
func (r *Reader) Nodes(selector string) ([]corev1.Node, error) {
	l, err := r.Kube.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	return l.Items, nil
}

// NoNodes waits until no node that the selector picks, and no machine of the account, is left.
func (r *Reader) NoNodes(limit time.Duration, selector string) {
	r.t.Helper()
	r.Within(limit, func() error {
		nodes, err := r.Nodes(selector)
		if err != nil {
			return err
		}
		if machines := r.Machines(); len(nodes)+len(machines) > 0 {
			return fmt.Errorf("%d nodes and %d machines are left", len(nodes), len(machines))
		}
		return nil
	})
}

// Event waits for an event of a reason about a pod whose message matches a pattern as a whole, and returns the message.
func (r *Reader) Event(limit time.Duration, namespace, reason, pattern string) corev1.Event {
	r.t.Helper()
	whole := regexp.MustCompile("^(?:" + pattern + ")$")
	var found corev1.Event
	r.Within(limit, func() error {
		l, err := r.Kube.CoreV1().Events(namespace).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		var said []string
		for _, e := range l.Items {
			if e.Reason != reason {
				continue
			}
			if whole.MatchString(e.Message) {
				found = e
				return nil
			}
			said = append(said, e.Message)
		}
		return fmt.Errorf("no event %s %q; there are\n%s", reason, pattern, strings.Join(said, "\n"))
	})
	return found
}

// EC2 is a client of the simulated account with the rights of its owner, as the aws command has them.
func (r *Reader) EC2() *ec2.Client {
	return ec2.New(ec2.Options{
		Region: r.Vars["AWS_DEFAULT_REGION"], BaseEndpoint: aws.String(r.contact.AWS),
		Credentials: credentials.NewStaticCredentialsProvider(awsapi.AdminKey, awsapi.SecretKey, ""),
	})
}

// UserData is the user data of a launch template, by its name.
func (r *Reader) UserData(template string) string {
	r.t.Helper()
	out, err := r.EC2().DescribeLaunchTemplateVersions(r.t.Context(), &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: &template})
	if err != nil || len(out.LaunchTemplateVersions) == 0 {
		r.t.Fatalf("describe launch template %q: %v", template, err)
	}
	text, err := base64.StdEncoding.DecodeString(aws.ToString(out.LaunchTemplateVersions[0].LaunchTemplateData.UserData))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}
