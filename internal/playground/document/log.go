package document

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A Log is what all controllers of the release have said, as `kubectl logs -f` shows it.
type Log struct {
	c kubernetes.Interface

	mu   sync.Mutex
	text strings.Builder
	seen map[string]bool // runs of pods
	read sync.WaitGroup
}

// FollowLog follows the log until ctx ends.
func FollowLog(ctx context.Context, c kubernetes.Interface) *Log {
	l := &Log{c: c, seen: map[string]bool{}}
	l.read.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			l.find(ctx)
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
	return l
}

// Wait returns when nothing is read any more.
func (l *Log) Wait() { l.read.Wait() }

// String is all that was said so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// find begins to read the log of every controller that is new or has begun again.
func (l *Log) find(ctx context.Context) {
	pods, err := l.c.CoreV1().Pods("karpenter").List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=karpenter"})
	if err != nil {
		return // the next look is soon
	}
	for _, p := range pods.Items {
		for _, s := range p.Status.ContainerStatuses {
			run := fmt.Sprintf("%s %d", p.UID, s.RestartCount)
			if s.State.Running == nil || l.seen[run] {
				continue
			}
			from, err := l.c.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{Container: "controller", Follow: true}).Stream(ctx)
			if err != nil {
				continue // its node is not there yet, or it is gone again
			}
			l.seen[run] = true
			l.read.Go(func() { l.follow(from) })
		}
	}
}

func (l *Log) follow(from io.ReadCloser) {
	defer from.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l.mu.Lock()
		l.text.WriteString(lines.Text() + "\n")
		l.mu.Unlock()
	}
}

// A Line is one line of the log, taken apart.
type Line struct{ Time, Level, Logger, Message, Fields string }

// ParseLine takes a line apart, if it is one in the usual form.
func ParseLine(text string) (Line, bool) {
	parts := strings.Split(strings.TrimSuffix(text, "\n"), "\t")
	switch len(parts) {
	case 4:
		return Line{parts[0], parts[1], "", parts[2], parts[3]}, true
	case 5:
		return Line{parts[0], parts[1], parts[2], parts[3], parts[4]}, true
	}
	return Line{}, false
}

// When is the time of the line, or none where it has none.
func (l Line) When() time.Time {
	at, err := time.Parse("2006-01-02T15:04:05.000Z", l.Time)
	if err != nil {
		return time.Time{}
	}
	return at
}

// Field is the value of a field of the line, or nothing.
func (l Line) Field(name string) string {
	var all map[string]any
	if err := json.Unmarshal([]byte(l.Fields), &all); err != nil {
		return ""
	}
	text, _ := all[name].(string)
	return text
}
