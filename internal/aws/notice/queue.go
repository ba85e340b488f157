package notice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/tenon-sh/tenon/internal/aws/refusal"
)

// SQS gives at most ten messages at a time, and hides them this long from others.
const (
	batch      = 10
	visibility = 20
	readers    = 4
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
// several read. Messages that nobody understands are deleted too, or they would
// come back until they expire. It returns how many came and the first error.
func (q *Queue) Drain(ctx context.Context, handle Handler) (int, error) {
	url, err := q.find(ctx)
	if err != nil {
		return 0, err
	}
	total, err := q.read(ctx, url, q.wait, handle)
	if total < batch {
		return total, err
	}
	counts := make([]int, readers)
	errs := make([]error, readers)
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() {
			for n := batch; n > 0 && ctx.Err() == nil; counts[i] += n {
				var failed error
				n, failed = q.read(ctx, url, 0, handle)
				errs[i] = cmp.Or(errs[i], failed)
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

// read takes one batch. The error of a question that failed comes with no messages.
func (q *Queue) read(ctx context.Context, url string, wait int32, handle Handler) (int, error) {
	out, err := q.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(url), MaxNumberOfMessages: batch, VisibilityTimeout: visibility, WaitTimeSeconds: wait,
	})
	if err != nil {
		if refusal.Gone(err) {
			q.forget()
		}
		return 0, refusal.Wrap("receive messages of queue "+q.name, err)
	}
	errs := make([]error, len(out.Messages))
	keep := make([]bool, len(out.Messages))
	var wg sync.WaitGroup
	for i, m := range out.Messages {
		wg.Go(func() { keep[i], errs[i] = take(ctx, m, handle) })
	}
	wg.Wait()
	var done []sqstypes.Message
	for i, m := range out.Messages {
		if !keep[i] {
			done = append(done, m)
		}
	}
	return len(out.Messages), errors.Join(errors.Join(errs...), q.delete(ctx, url, done))
}

// take handles one message, and reports whether it is to stay in the queue: only
// if handling failed, so that it comes again.
func take(ctx context.Context, m sqstypes.Message, handle Handler) (keep bool, err error) {
	n, unread := Parse(aws.ToString(m.Body))
	if unread != nil || n.Kind == Nothing {
		return false, unread
	}
	if err := handle(ctx, n); err != nil {
		return true, fmt.Errorf("%s of %v: %w", n.Kind, n.Instances, err)
	}
	return false, nil
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
