package document

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A Sight is something that there is to be seen after a step.
type Sight struct {
	what string // log, event, pods or nodes
	of   string // a pattern for a whole message, or a selector
	in   string // a namespace
	many int
}

// see reads a line of a story.
func see(text string) (Sight, error) {
	for pattern, sight := range map[string]func(m []string) Sight{
		"^the log: `(.+)`$":            func(m []string) Sight { return Sight{what: "log", of: m[1]} },
		"^an event: `(.+)`$":           func(m []string) Sight { return Sight{what: "event", of: m[1]} },
		"^(no|\\d+) nodes? of `(.+)`$": func(m []string) Sight { return Sight{what: "nodes", of: m[2], many: number(m[1])} },
		"^(no|\\d+) pods? of `(.*)` in (\\S+) runs?$": func(m []string) Sight {
			return Sight{what: "pods", of: m[2], in: m[3], many: number(m[1])}
		},
	} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
			s := sight(m)
			if s.what == "log" || s.what == "event" {
				if _, err := regexp.Compile(s.of); err != nil {
					return Sight{}, err
				}
			}
			return s, nil
		}
	}
	return Sight{}, fmt.Errorf("what is to be seen is not written in a known form: %s", text)
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0 // the word no
	}
	return n
}

// look reports what of the sight is to be seen, in words, and whether that is all of it. log is what the controller has said since the
// step began.
func (s Sight) look(ctx context.Context, c kubernetes.Interface, log string) (string, bool, error) {
	switch s.what {
	case "log":
		whole := regexp.MustCompile("^(?:" + s.of + ")$")
		for line := range strings.Lines(log) {
			if l, ok := ParseLine(line); ok && whole.MatchString(l.Message) {
				return strings.TrimSuffix(line, "\n"), true, nil
			}
		}
		return "the log has no line " + s.of, false, nil
	case "event":
		whole := regexp.MustCompile("^(?:" + s.of + ")$")
		l, err := c.CoreV1().Events("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", false, err
		}
		for _, e := range l.Items {
			if whole.MatchString(e.Message) {
				return fmt.Sprintf("event on %s: %s", e.InvolvedObject.Name, e.Message), true, nil
			}
		}
		return "there is no event " + s.of, false, nil
	case "nodes":
		l, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: s.of})
		if err != nil {
			return "", false, err
		}
		return fmt.Sprintf("%d nodes of %s", len(l.Items), s.of), len(l.Items) == s.many, nil
	default:
		l, err := c.CoreV1().Pods(s.in).List(ctx, metav1.ListOptions{LabelSelector: s.of})
		if err != nil {
			return "", false, err
		}
		n := 0
		for _, p := range l.Items {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				n++
			}
		}
		return fmt.Sprintf("%d of %d pods of %s run", n, len(l.Items), s.of), n == s.many, nil
	}
}
