package launch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/cloud"
)

// refusing is a driver whose first order is carried out while its answer is lost;
// sent again it is refused, as when a token has expired meanwhile.
type refusing struct {
	cloud.Driver

	refusal  error
	launches int
}

func (d *refusing) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	d.launches++
	out := make([]cloud.Outcome, len(orders))
	switch {
	case d.launches == 1:
		d.Driver.Launch(ctx, orders)
		for i := range out {
			out[i].Err = errors.New("connection reset by peer")
		}
		return out
	case d.launches < 4:
		for i := range out {
			out[i].Err = d.refusal
		}
		return out
	}
	return d.Driver.Launch(ctx, orders)
}

// What an order bought although its answer was lost is found before its claims are
// ordered again, whatever the cloud said when the order was sent again; and claims
// that go meanwhile take their machines along.
func TestARefusalAfterALostAnswer(t *testing.T) {
	for _, code := range []cloud.Code{cloud.Unauthorised, cloud.Invalid} {
		for _, gone := range []string{"", "a"} {
			t.Run(string(code)+"/"+gone, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := newFixture(t)
					d := &refusing{Driver: x.driver, refusal: cloud.Errorf(code, "", "refused")}
					done := make(chan struct{})
					go func() {
						defer close(done)
						x.live(t, x.store, d, 40, 5*time.Second)
					}()
					time.Sleep(17 * time.Second) // the order has been sent by then
					for _, c := range x.claims(t) {
						if c.Name == gone {
							if err := x.store.Delete(t.Context(), &c); err != nil {
								t.Fatal(err)
							}
						}
					}
					<-done
					if n := x.held(t); n != 2 {
						t.Errorf("%d machines were bought for 2 claims", n)
					}
				})
			})
		}
	}
}
