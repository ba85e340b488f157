package template

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/aws/keylock"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// How long a template that nothing starts from is kept. To make one takes a call
// that AWS throttles early, and machines of a kind come again and again. Those of
// the v1alpha5 era go soon, as they did then; so do those that this process found.
const (
	keepUnusedFor = time.Hour
	keepEarlyFor  = time.Minute
)

// Store is the templates of this cluster that are there now.
type Store struct {
	ec2     *ec2.Client
	cluster string
	now     clock.Now

	locks keylock.Locks // for each name: two that need the same template make it once

	mu   sync.Mutex
	used map[string]entry // by name
}

type entry struct {
	id   string
	at   time.Time // last use
	kept time.Duration
}

// NewStore returns a Store that knows of no template yet.
func NewStore(c *ec2.Client, cluster string, now clock.Now) *Store {
	return &Store{ec2: c, cluster: cluster, now: now, used: map[string]entry{}}
}

// Made is a template that a Store made or deleted, for the log.
type Made struct{ Name, ID string }

// Ensure returns the name of a template with these settings, and what it had to
// make for it; nothing if the template was there.
func (s *Store) Ensure(ctx context.Context, t Settings) (string, *Made, error) {
	name, keep := t.Name(s.cluster), keepUnusedFor
	if t.Legacy {
		keep = keepEarlyFor
	}
	done, err := s.locks.Lock(ctx, name)
	if err != nil {
		return "", nil, err
	}
	defer done()
	s.mu.Lock()
	e, known := s.used[name]
	if known {
		s.used[name] = entry{e.id, s.now(), keep}
	}
	s.mu.Unlock()
	if known {
		return name, nil, nil
	}
	out, err := s.ec2.CreateLaunchTemplate(ctx, t.Input(s.cluster))
	if refusal.Is(err, "InvalidLaunchTemplateName.AlreadyExistsException") {
		s.remember(name, "", keep)
		return name, nil, nil
	}
	if err != nil {
		return "", nil, refusal.Wrap("create launch template", err)
	}
	id := aws.ToString(out.LaunchTemplate.LaunchTemplateId)
	s.remember(name, id, keep)
	return name, &Made{name, id}, nil
}

func (s *Store) remember(name, id string, keep time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[name] = entry{id, s.now(), keep}
}

// Drop deletes a template that was made for a moment. One that cannot be deleted now goes with a sweep.
func (s *Store) Drop(ctx context.Context, name string) error {
	s.Forget(name)
	_, err := s.delete(ctx, []Made{{Name: name}})
	return err
}

// Forget drops a template that EC2 says is not there.
func (s *Store) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.used, name)
}

// Hydrate learns of the templates that an earlier process left, so that Sweep deletes them too.
func (s *Store) Hydrate(ctx context.Context) error {
	found, err := s.tagged(ctx, map[string]string{clusterTag: s.cluster})
	for _, t := range found {
		s.remember(t.Name, t.ID, keepEarlyFor)
	}
	return err
}

// maxTemplatesPerPage is how many templates one answer lists at most.
const maxTemplatesPerPage = 200

// tagged lists the templates that have all these tags. It does not rely on the
// server's filters: what is listed here will be deleted.
func (s *Store) tagged(ctx context.Context, want map[string]string) ([]Made, error) {
	in := &ec2.DescribeLaunchTemplatesInput{MaxResults: aws.Int32(maxTemplatesPerPage)}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		in.Filters = append(in.Filters, ec2types.Filter{Name: aws.String("tag:" + key), Values: []string{want[key]}})
	}
	var out []Made
	pages := ec2.NewDescribeLaunchTemplatesPaginator(s.ec2, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refusal.Wrap("describe launch templates", err)
		}
		for _, t := range page.LaunchTemplates {
			has := map[string]string{}
			for _, tag := range t.Tags {
				has[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
			}
			maps.DeleteFunc(has, func(k, v string) bool { return want[k] != v })
			if len(has) == len(want) {
				out = append(out, Made{aws.ToString(t.LaunchTemplateName), aws.ToString(t.LaunchTemplateId)})
			}
		}
	}
	return out, nil
}

// Sweep deletes the templates that nothing has started from for a while, and returns them.
func (s *Store) Sweep(ctx context.Context) ([]Made, error) {
	s.mu.Lock()
	var old []Made
	for name, e := range s.used {
		if s.now.Since(e.at) >= e.kept {
			old = append(old, Made{name, e.id})
			delete(s.used, name)
		}
	}
	s.mu.Unlock()
	return s.delete(ctx, old)
}

// DeleteOf deletes the templates of a class, as when the class goes.
func (s *Store) DeleteOf(ctx context.Context, tag, class string) ([]Made, error) {
	found, err := s.tagged(ctx, map[string]string{clusterTag: s.cluster, tag: class})
	if err != nil {
		return nil, err
	}
	for _, t := range found {
		s.Forget(t.Name)
	}
	return s.delete(ctx, found)
}

// delete deletes templates; one that could not be is remembered, so that the next sweep tries again.
func (s *Store) delete(ctx context.Context, old []Made) ([]Made, error) {
	var done []Made
	var errs []error
	for _, m := range old {
		_, err := s.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: aws.String(m.Name)})
		switch {
		case err == nil:
			done = append(done, m)
		case !refusal.Gone(err):
			errs = append(errs, refusal.Wrap("delete launch template "+m.Name, err))
			s.remember(m.Name, m.ID, keepEarlyFor)
		}
	}
	return done, errors.Join(errs...)
}
