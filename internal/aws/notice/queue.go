package notice

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/parallel"
)

// SQS gives at most ten messages at a time, and hides them this long from others.
const (
	maxMessagesPerReceive = 10
	visibilitySeconds     = 20
	readers               = 4
)

// Queue is where AWS puts its announcements.
type Queue struct {
	sqs  *sqs.Client
	name string
	wait int32 // seconds a question waits for an answer

	mu  sync.Mutex
	url string
}

// NewQueue returns the queue of that name. wait is how many seconds a question
// waits for a message to come; 20 is the most that SQS allows.
func NewQueue(c *sqs.Client, name string, wait int32) *Queue {
	return &Queue{sqs: c, name: name, wait: wait}
}

// Name is the queue's name.
func (q *Queue) Name() string { return q.name }

// Handler does what a notice asks for. A notice may come twice and late, and
// several at once.
type Handler func(context.Context, Notice) error

// Drain waits for messages, hands each to handle and deletes those that were
// handled, until no more come: one reader waits, and where there are many,
// several read. Messages that cannot be read are deleted too, or they would
// come back until they expire. It returns how many came.
//
// The error is of the queue, which could not be asked. What is wrong with one
// message is passed to failed and delays no other.
func (q *Queue) Drain(ctx context.Context, handle Handler, failed func(error)) (int, error) {
	url, err := q.find(ctx)
	if err != nil {
		return 0, err
	}
	failed = oneAtATime(failed)
	total, err := q.read(ctx, asking{url, q.wait, handle, failed})
	if total < maxMessagesPerReceive {
		return total, err
	}
	counts := make([]int, readers)
	errs := make([]error, readers)
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() {
			for n := maxMessagesPerReceive; n > 0 && ctx.Err() == nil; counts[i] += n {
				var refused error
				n, refused = q.read(ctx, asking{url, 0, handle, failed})
				errs[i] = cmp.Or(errs[i], refused)
			}
		})
	}
	wg.Wait()
	for i := range readers {
		total += counts[i]
		err = cmp.Or(err, errs[i])
	}
	return total, err
}

// asking is one question for messages.
type asking struct {
	url    string
	wait   int32 // seconds
	handle Handler
	failed func(error)
}

// oneAtATime lets several readers report errors to one function.
func oneAtATime(failed func(error)) func(error) {
	var mu sync.Mutex
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed(err)
	}
}

// read takes one batch. The error of a question that failed comes with no messages.
func (q *Queue) read(ctx context.Context, a asking) (int, error) {
	out, err := q.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(a.url), MaxNumberOfMessages: maxMessagesPerReceive, VisibilityTimeout: visibilitySeconds, WaitTimeSeconds: a.wait,
	})
	if err != nil {
		if refusal.Gone(err) {
			q.forget()
		}
		return 0, refusal.Wrap("receive messages of queue "+q.name, err)
	}
	keep := make([]bool, len(out.Messages))
	parallel.Do(maxMessagesPerReceive, out.Messages, func(i int, m sqstypes.Message) {
		if broke := panics.Caught(func() { keep[i] = q.take(ctx, m, a) }); broke != nil {
			keep[i] = true
			a.failed(fmt.Errorf("message %s of queue %s meets a bug in Tenon, please report it; it comes again in %d seconds: %w", aws.ToString(m.MessageId), q.name, visibilitySeconds, broke))
		}
	})
	var done []sqstypes.Message
	for i, m := range out.Messages {
		if !keep[i] {
			done = append(done, m)
		}
	}
	if err := q.delete(ctx, a.url, done); err != nil {
		a.failed(err) // they come again, and a notice may come twice
	}
	return len(out.Messages), nil
}

// maxBytesShown is how much of a message that cannot be read is shown.
const maxBytesShown = 200

// take handles one message, and reports whether it is to stay in the queue: only
// if handling failed, so that it comes again.
func (q *Queue) take(ctx context.Context, m sqstypes.Message, a asking) (keep bool) {
	body := aws.ToString(m.Body)
	n, err := Parse(body)
	if err != nil {
		a.failed(fmt.Errorf("message %s of queue %s is no notice of EventBridge and is deleted; send nothing else to this queue: %w; it begins with %.*q", aws.ToString(m.MessageId), q.name, err, maxBytesShown, body))
		return false
	}
	if n.Kind == Nothing {
		return false
	}
	if err := a.handle(ctx, n); err != nil {
		a.failed(fmt.Errorf("message %s of queue %s comes again in %d seconds: %s of %v: %w", aws.ToString(m.MessageId), q.name, visibilitySeconds, n.Kind, n.Instances, err))
		return true
	}
	return false
}

// delete deletes messages, all in one call where the server has it.
func (q *Queue) delete(ctx context.Context, url string, done []sqstypes.Message) error {
	if len(done) == 0 {
		return nil
	}
	in := &sqs.DeleteMessageBatchInput{QueueUrl: aws.String(url)}
	for i, m := range done {
		in.Entries = append(in.Entries, sqstypes.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle})
	}
	out, err := q.sqs.DeleteMessageBatch(ctx, in)
	switch {
	case refusal.Absent(err):
		for _, m := range done {
			if _, err := q.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: aws.String(url), ReceiptHandle: m.ReceiptHandle}); err != nil {
				return refusal.Wrap("delete message of queue "+q.name, err)
			}
		}
		return nil
	case err != nil:
		return refusal.Wrap("delete messages of queue "+q.name, err)
	case len(out.Failed) > 0:
		f := out.Failed[0]
		return fmt.Errorf("delete messages of queue %s: %d stay, %s: %s", q.name, len(out.Failed), aws.ToString(f.Code), aws.ToString(f.Message))
	}
	return nil
}

func (q *Queue) find(ctx context.Context) (string, error) {
	q.mu.Lock()
	url := q.url
	q.mu.Unlock()
	if url != "" {
		return url, nil
	}
	out, err := q.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(q.name)})
	if err != nil {
		return "", refusal.Wrap("find queue "+q.name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.url = aws.ToString(out.QueueUrl)
	return q.url, nil
}

func (q *Queue) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.url = ""
}
