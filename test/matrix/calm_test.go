package matrix

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
)

// A controller that leads and is told to end lets its Lease go, and says no error for it.
func TestALeaderEndsWithoutAnError(t *testing.T) {
	r := quiet(t)
	synctest.Test(t, func(t *testing.T) {
		w := newTestCluster(t, r)
		defer w.end()
		var said []string
		w.log = funcr.New(func(_, line string) { said = append(said, line) }, funcr.Options{})
		if err := w.prepare(r, story{}, during{fault: fault{leases: true}}); err != nil {
			t.Fatal(err)
		}
		w.start()
		w.pass(time.Minute)
		w.life.stop()
		<-w.life.done
		for _, line := range said {
			if strings.Contains(line, `"error"=`) {
				t.Errorf("it says %s", line)
			}
		}
	})
}
