// Package reserve finds the capacity reservations that a class may use, and counts what is left of them.
package reserve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// fresh is how long an answer of EC2 is used, and giveUpAfter how long it is what was
// known last where EC2 cannot be asked. Far older than that it is not used: no
// class has had its selector since.
const (
	fresh       = time.Minute
	giveUpAfter = 24 * time.Hour
)

// Reservation is capacity that is paid for whether it is used or not.
type Reservation struct {
	ID, Type, Zone string
	Owner          string // account
	Matching       string // open or targeted
	Block          bool   // a capacity block, which ends
	Interruptible  bool
	Ends           time.Time // zero: when it is cancelled
	Left           int       // machines
	Expiring       bool      // it ends so soon that its machines leave, and new ones are of no use
	Closing        bool      // it is expiring, or so soon that what comes now would leave as soon as it is there
}

// Kind is the reservation's type, as labels and conditions name it.
func (r Reservation) Kind() string {
	if r.Block {
		return "capacity-block"
	}
	return "default"
}

// leaveBeforeEnd is how long before its end a capacity block is of no use to new
// machines, and those that run in it leave: AWS starts to end them half an hour before.
const leaveBeforeEnd = 40 * time.Minute

// stay is how long a machine can be in a capacity block at least, for it to be offered: pods that are moved there would
// be moved again at once.
const stay = 10 * time.Minute

// closes reports whether the block is about to expire.
func (r Reservation) closes(now time.Time) bool { return r.expires(now.Add(stay)) }

func (r Reservation) expires(now time.Time) bool {
	return r.Block && !r.Ends.IsZero() && r.Ends.Sub(now) < leaveBeforeEnd
}

// Finder asks EC2 and remembers the answers for a while.
type Finder struct {
	ec2   *ec2.Client
	found *answers.Memory[[]Reservation] // by selector
	now   clock.Now

	mu     sync.Mutex
	used   map[string]int         // machines since the answer, by reservation
	blocks map[string]Reservation // that were found and end, by id
}

// New returns a Finder over a client.
func New(c *ec2.Client, now clock.Now) *Finder {
	return &Finder{ec2: c, found: answers.New(now, answers.Rules[[]Reservation]{Stale: giveUpAfter}), now: now, used: map[string]int{}, blocks: map[string]Reservation{}}
}

// Find returns the active reservations that meet one of the selectors, by id.
// Where EC2 cannot be asked, what was known before counts, and the error says so beside it.
func (f *Finder) Find(ctx context.Context, selectors []nodeclass.ReservationSelector) ([]Reservation, error) {
	var out []Reservation
	var failed error
	for _, s := range selectors {
		found, err := f.found.Get(ctx, s.Key()+"\n"+s.Owner+"\n"+s.Matching, func(ctx context.Context) ([]Reservation, time.Duration, error) {
			found, err := f.ask(ctx, s)
			if err != nil {
				return nil, 0, err
			}
			f.counted(found)
			return found, fresh, nil
		})
		failed = errors.Join(failed, err)
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b Reservation) int { return cmp.Compare(a.ID, b.ID) })
	out = slices.CompactFunc(out, func(a, b Reservation) bool { return a.ID == b.ID })
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range out {
		out[i].Left = max(0, out[i].Left-f.used[out[i].ID])
		out[i].Expiring, out[i].Closing = out[i].expires(f.now()), out[i].closes(f.now())
	}
	return out, failed
}

// counted notes that the counts of reservations have just been read, and are true again.
func (f *Finder) counted(found []Reservation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range found {
		delete(f.used, r.ID)
		if r.Block && !r.Ends.IsZero() {
			f.blocks[r.ID] = r
		}
	}
}

// Expiring returns the capacity blocks whose machines have to leave. That one is
// no longer listed, or no class selects it any more, does not take it back.
func (f *Finder) Expiring() map[string]Reservation {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]Reservation{}
	for id, r := range f.blocks {
		switch {
		case f.now.Since(r.Ends) > emptyAfterEnd:
			delete(f.blocks, id)
		case r.expires(f.now()):
			out[id] = r
		}
	}
	return out
}

// emptyAfterEnd is how long after its end a capacity block has no machines any more.
const emptyAfterEnd = time.Hour

// Use notes that machines of a reservation were launched, or that none is left
// in spite of the count if n is Everything.
func (f *Finder) Use(id string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used[id] += n
}

// Freed has the reservations asked for again by the next look: a machine of one has ended.
func (f *Finder) Freed() { f.found.Due() }

// Everything is more than any reservation holds.
const Everything = 1 << 20

func (f *Finder) ask(ctx context.Context, s nodeclass.ReservationSelector) ([]Reservation, error) {
	in := &ec2.DescribeCapacityReservationsInput{Filters: network.Filters(nodeclass.Selector{Tags: s.Tags}, "")}
	in.CapacityReservationIds = s.IDs
	add := func(name, value string) {
		if value != "" {
			in.Filters = append(in.Filters, ec2types.Filter{Name: aws.String(name), Values: []string{value}})
		}
	}
	add("state", "active")
	add("owner-id", s.Owner)
	add("instance-match-criteria", s.Matching)
	var out []Reservation
	pages := ec2.NewDescribeCapacityReservationsPaginator(f.ec2, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if refusal.Gone(err) {
			return nil, nil // it was cancelled
		}
		if err != nil {
			return nil, refusal.Wrap("describe capacity reservations", err)
		}
		for _, r := range page.CapacityReservations {
			if !meant(s, r) {
				continue
			}
			out = append(out, Reservation{
				ID: aws.ToString(r.CapacityReservationId), Type: aws.ToString(r.InstanceType), Zone: aws.ToString(r.AvailabilityZone),
				Owner: aws.ToString(r.OwnerId), Matching: string(r.InstanceMatchCriteria), Block: r.ReservationType == ec2types.CapacityReservationTypeCapacityBlock,
				Interruptible: aws.ToBool(r.Interruptible), Ends: aws.ToTime(r.EndDate), Left: int(aws.ToInt32(r.AvailableInstanceCount)),
			})
		}
	}
	return out, nil
}

// meant reports whether a reservation is one that was asked for: a server may
// pass over filters that it does not know.
func meant(s nodeclass.ReservationSelector, r ec2types.CapacityReservation) bool {
	return (r.State == "" || r.State == ec2types.CapacityReservationStateActive) &&
		(s.Owner == "" || s.Owner == aws.ToString(r.OwnerId)) &&
		(s.Matching == "" || s.Matching == string(r.InstanceMatchCriteria)) &&
		s.Meets(aws.ToString(r.CapacityReservationId), "", network.TagsOf(r.Tags))
}
