package aws_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/notice"
)

// A message that cannot be read, or not be handled, is told of by its id. It is
// no error of the queue, after which its reader would wait before asking again.
func TestBadMessages(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, queue: "demo"}
		q, m := w.start().Notices(), w.account().Market
		send := func(body string) string {
			t.Helper()
			id, err := m.Send("demo", body)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		spot := func(machine string) string {
			return `{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":"` + machine + `"}}`
		}
		unread, stuck := send("hello "+strings.Repeat("x", 10_000)), send(spot("i-stuck"))
		send(spot("i-1"))
		var seen, told []string
		drain := func() {
			t.Helper()
			_, err := q.Drain(t.Context(), func(_ context.Context, n notice.Notice) error {
				if n.Instances[0] == "i-stuck" {
					return errors.New("a webhook refuses it")
				}
				seen = append(seen, n.Instances...)
				return nil
			}, func(err error) { told = append(told, err.Error()) })
			if err != nil {
				t.Errorf("the queue is said to have failed: %v", err)
			}
		}
		drain()
		if !slices.Equal(seen, []string{"i-1"}) || len(told) != 2 {
			t.Fatalf("handled %v, told %q", seen, told)
		}
		slices.Sort(told)
		for i, parts := range [][]string{
			{unread, "queue demo", "invalid character", `"hello xxx`, "send nothing else"},
			{stuck, "queue demo", "i-stuck", "a webhook refuses it", "again"},
		} {
			at := slices.IndexFunc(told, func(text string) bool { return strings.Contains(text, parts[0]) })
			if at < 0 {
				t.Errorf("message %d is not named by its id in %q", i, told)
				continue
			}
			for _, part := range parts {
				if !strings.Contains(told[at], part) {
					t.Errorf("%q does not say %q", told[at], part)
				}
			}
			if len(told[at]) > 600 {
				t.Errorf("a message of 10,000 characters is told in %d", len(told[at]))
			}
		}
		time.Sleep(30 * time.Second)
		drain()
		if visible, hidden, err := m.Depth("demo"); err != nil || visible+hidden != 1 || len(told) != 3 {
			t.Errorf("%d messages are left, want the one that could not be handled; told %d times, %v", visible+hidden, len(told), err)
		}
	})
}
