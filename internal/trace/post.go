package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// mostAnswer is how much of an answer is read.
const mostAnswer = 4 << 10

// answer is what a collector makes of a request.
type answer struct {
	taken bool          // it took the request, though perhaps not all of it
	again bool          // it may take it later
	after time.Duration // how long it wants to be left alone before that; zero: it does not say
}

// post sends a request. It is an error if the collector does not take all of it.
func (e *Exporter) post(ctx context.Context, body []byte) (answer, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.settings.URL, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for k, v := range e.settings.Headers {
		r.Header.Set(k, v)
	}
	r.Header.Set("Content-Type", "application/json")
	if e.settings.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	got, err := e.client.Do(r)
	if err != nil {
		return answer{again: true}, fmt.Errorf("send spans: %w", err)
	}
	said, readErr := io.ReadAll(io.LimitReader(got.Body, mostAnswer))
	if err := errors.Join(readErr, got.Body.Close()); err != nil {
		return answer{again: true}, fmt.Errorf("send spans: %w", err)
	}
	switch got.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return answer{again: true, after: retryAfter(got.Header)}, refusal(got.Status, said)
	}
	if got.StatusCode/100 != 2 {
		return answer{}, refusal(got.Status, said)
	}
	return answer{taken: true}, rejected(said)
}

func refusal(status string, said []byte) error {
	return fmt.Errorf("send spans: the collector answers %s: %q", status, said)
}

// rejected is why a collector did not take all spans of a request that it took; nil if it did, or if what it says is
// no answer of OTLP. A message without rejected spans is advice.
func rejected(said []byte) error {
	var is struct {
		PartialSuccess struct {
			RejectedSpans json.RawMessage `json:"rejectedSpans"` // 64 bits: a text, but numbers are to be read as well
			ErrorMessage  string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(said, &is) != nil {
		return nil
	}
	n, err := strconv.ParseInt(strings.Trim(string(is.PartialSuccess.RejectedSpans), `"`), 10, 64)
	if err != nil || n <= 0 {
		return nil
	}
	return fmt.Errorf("send spans: the collector refuses %d of them: %q", n, is.PartialSuccess.ErrorMessage)
}

// retryAfter is how long a server wants to be left alone.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(time.Duration(seconds)*time.Second, 0)
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date")) // by the server's clock, which may differ from ours
	if err != nil {
		return 0
	}
	return max(until.Sub(now), 0)
}
