package access

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tenon-sh/tenon/internal/clock"
)

// Done is a request to AWS that has ended, or one attempt of it.
type Done struct {
	Service, Action string // as the SDK calls them: EC2, DescribeSubnets
	Code            int    // the status of the answer; 0 if there was none
	Took            time.Duration
	Attempts        int // of a request; 0: this is one attempt
}

// meter reports what is sent to the listener, once there is one.
type meter struct {
	now clock.Now
	to  atomic.Pointer[func(Done)]
}

func (m *meter) note(d Done) {
	if to := m.to.Load(); to != nil {
		(*to)(d)
	}
}

// measure puts the meter around every request, and around every attempt.
func (m *meter) measure(s *middleware.Stack) error {
	whole := middleware.InitializeMiddlewareFunc("TenonRequests",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			begun := m.now()
			out, about, err := next.HandleInitialize(ctx, in)
			attempts := 0
			if all, ok := retry.GetAttemptResults(about); ok {
				attempts = len(all.Results)
			}
			if attempts > 0 { // otherwise nothing was sent
				m.note(Done{awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx), codeOf(about, err), m.now().Sub(begun), attempts})
			}
			return out, about, err
		})
	each := middleware.FinalizeMiddlewareFunc("TenonAttempts",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			begun := m.now()
			out, about, err := next.HandleFinalize(ctx, in)
			m.note(Done{Service: awsmiddleware.GetServiceID(ctx), Action: awsmiddleware.GetOperationName(ctx), Code: codeOf(about, err), Took: m.now().Sub(begun)})
			return out, about, err
		})
	if err := s.Initialize.Add(whole, middleware.Before); err != nil {
		return err
	}
	return s.Finalize.Insert(each, "Retry", middleware.After)
}

// codeOf is the status of an answer.
func codeOf(about middleware.Metadata, err error) int {
	var refused interface{ HTTPStatusCode() int }
	if errors.As(err, &refused) {
		return refused.HTTPStatusCode()
	}
	if answer, ok := awsmiddleware.GetRawResponse(about).(*smithyhttp.Response); ok && answer != nil && answer.Response != nil {
		return answer.StatusCode
	}
	return 0
}
