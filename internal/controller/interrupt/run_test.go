package interrupt_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/interrupt"
)

// A source that cannot be asked is asked less and less often. One that gives
// notices of which some cannot be handled is asked on and on: a spot machine has
// two minutes from the moment of its notice, not of its delivery.
func TestWaits(t *testing.T) {
	tests := map[string]struct {
		why         string
		asked, told error
		least, most int // questions in two minutes, each taking a second
	}{
		"Well":    {why: "There is nothing to wait for.", least: 119, most: 121},
		"Bad":     {why: "The message is wrong, not the queue.", told: errors.New("message m-1 is no notice"), least: 119, most: 121},
		"Refused": {why: "The queue is not there.", asked: errors.New("no such queue"), least: 5, most: 8},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				c := &interrupt.Controller{
					Cluster: cluster.New(clock.Wall), Now: clock.Wall, Log: logr.Discard(),
					Source: interrupt.Source{Name: "demo", Receive: func(_ context.Context, _ func(context.Context, interrupt.Notice) error, failed func(error)) (int, error) {
						time.Sleep(time.Second)
						asked++
						if tc.told != nil {
							failed(tc.told)
						}
						return 1, tc.asked
					}},
				}
				ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
				defer stop()
				if err := c.Start(ctx); err != nil {
					t.Fatal(err)
				}
				if asked < tc.least || asked > tc.most {
					t.Errorf("asked %d times in two minutes, want %d to %d: %s", asked, tc.least, tc.most, tc.why)
				}
			})
		})
	}
}
