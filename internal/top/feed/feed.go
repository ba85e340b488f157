// Package feed follows a cluster by the HTTP API of the live page, for programs that show it elsewhere.
package feed

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/tenon-sh/tenon/internal/web/live"
)

const (
	// livePath is where frames come from.
	livePath = "v1/live"
	// silence is after how long without a word a connection counts as lost: three beats of the page's.
	silence = 30 * time.Second
	// soonest and latest bound how long it waits before it connects again.
	soonest, latest = 500 * time.Millisecond, 10 * time.Second
)

// Get opens the answer to a path of the API.
type Get func(ctx context.Context, path string, query url.Values) (io.ReadCloser, error)

// News is a frame, or why there is none.
type News struct {
	Frame live.Frame
	Lost  error // the connection is lost: what is shown grows old; it is tried again
}

// fromLeader asks that of several replicas the one answers that decides.
func fromLeader(query url.Values) url.Values {
	out := url.Values{"from": {"leader"}}
	for k, v := range query {
		out[k] = v
	}
	return out
}

// Follow reports what happens until ctx ends. Whenever it connects again, the first frame is all there is.
func Follow(ctx context.Context, get Get, report func(News)) {
	wait := soonest
	for {
		err := follow(ctx, get, func(f live.Frame) {
			wait = soonest
			report(News{Frame: f})
		})
		if ctx.Err() != nil {
			return
		}
		report(News{Lost: err})
		next := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
		}
		wait = min(2*wait, latest)
	}
}

var errSilent = fmt.Errorf("nothing was heard for %s", silence)

// follow reads one connection to its end.
func follow(ctx context.Context, get Get, report func(live.Frame)) (err error) {
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	watch := time.AfterFunc(silence, func() { cut(errSilent) })
	defer watch.Stop()
	body, err := get(ctx, livePath, fromLeader(nil))
	if err != nil {
		return orCause(ctx, err)
	}
	defer func() { _ = body.Close() }() // what was read is all that counts
	lines := bufio.NewReaderSize(body, 64<<10)
	kind := ""
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return orCause(ctx, err)
		}
		watch.Reset(silence)
		line = bytes.TrimSpace(line)
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case string(name) == "event":
			kind = string(value)
		case string(name) == "data" && (kind == "all" || kind == "change"):
			var f live.Frame
			if err := json.Unmarshal(value, &f); err != nil {
				return fmt.Errorf("read what it shows: %w; it may be of another release", err)
			}
			report(f)
		}
	}
}

// orCause prefers why the connection was cut to how that looked.
func orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return cause
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the controller ended the connection")
	}
	return err
}

// Ask asks one question. The answer is what the command line says.
func Ask(ctx context.Context, get Get, path string, query url.Values) (string, error) {
	var a struct {
		Text string `json:"text"`
	}
	err := read(ctx, get, path, query, &a)
	return a.Text, err
}

// Labels asks which values of some labels each node has.
func Labels(ctx context.Context, get Get, keys []string) (map[string][]string, error) {
	var v live.LabelValues
	err := read(ctx, get, "v1/labels", url.Values{"key": keys}, &v)
	return v.Nodes, err
}

// read reads an answer into v.
func read(ctx context.Context, get Get, path string, query url.Values, v any) (err error) {
	body, err := get(ctx, path, fromLeader(query))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if err := json.NewDecoder(body).Decode(v); err != nil {
		return fmt.Errorf("read the answer to %s: %w", path, err)
	}
	return nil
}
