package awsapi

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// queueInput is what the queue actions take.
type queueInput struct {
	QueueName                   string
	QueueUrl                    string
	MessageBody                 string
	ReceiptHandle               string
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int
	WaitTimeSeconds             int
	AttributeNames              []string
	MessageSystemAttributeNames []string
	Entries                     []queueEntry
}

// queueEntry is one message of a batch.
type queueEntry struct{ Id, ReceiptHandle, MessageBody string }

func (in *queueInput) read(c *call) (string, error) {
	if err := c.read(in); err != nil {
		return "", err
	}
	if in.QueueUrl == "" {
		return in.QueueName, nil
	}
	name := in.QueueUrl
	for k := len(name) - 1; k >= 0; k-- {
		if name[k] == '/' {
			return name[k+1:], nil
		}
	}
	return name, nil
}

func getQueueURL(c *call) (any, error) {
	var in queueInput
	name, err := in.read(c)
	if err != nil {
		return nil, err
	}
	if !c.market.HasQueue(name) {
		return nil, market.Errorf(market.QueueDoesNotExist, "The specified queue does not exist.")
	}
	return map[string]any{"QueueUrl": "http://" + c.host + "/" + c.market.Account() + "/" + name}, nil
}

func getQueueAttributes(c *call) (any, error) {
	var in queueInput
	name, err := in.read(c)
	if err != nil {
		return nil, err
	}
	q, err := c.market.QueueInfo(name)
	if err != nil {
		return nil, err
	}
	visible, hidden, err := c.market.Depth(name)
	if err != nil {
		return nil, err
	}
	all := map[string]string{
		"ApproximateNumberOfMessages":           strconv.Itoa(visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(hidden),
		"ApproximateNumberOfMessagesDelayed":    "0",
		"CreatedTimestamp":                      strconv.FormatInt(q.Created.Unix(), 10),
		"LastModifiedTimestamp":                 strconv.FormatInt(q.Created.Unix(), 10),
		"MessageRetentionPeriod":                strconv.Itoa(int(q.Retention.Seconds())),
		"VisibilityTimeout":                     strconv.Itoa(int(q.Visibility.Seconds())),
		"QueueArn":                              arn(c, "sqs", name),
		"SqsManagedSseEnabled":                  "true",
	}
	if !slices.Contains(in.AttributeNames, "All") {
		for k := range all {
			if !slices.Contains(in.AttributeNames, k) {
				delete(all, k)
			}
		}
	}
	return map[string]any{"Attributes": all}, nil
}

func sendMessage(c *call) (any, error) {
	var in queueInput
	name, err := in.read(c)
	if err != nil {
		return nil, err
	}
	id, err := c.market.Send(name, in.MessageBody)
	if err != nil {
		return nil, err
	}
	return map[string]any{"MessageId": id, "MD5OfMessageBody": digest(in.MessageBody)}, nil
}

func sendMessageBatch(c *call) (any, error) {
	var in queueInput
	name, err := in.read(c)
	if err != nil {
		return nil, err
	}
	if err := batchSize(len(in.Entries)); err != nil {
		return nil, err
	}
	done := []map[string]string{}
	for _, e := range in.Entries {
		id, err := c.market.Send(name, e.MessageBody)
		if err != nil {
			return nil, err
		}
		done = append(done, map[string]string{"Id": e.Id, "MessageId": id, "MD5OfMessageBody": digest(e.MessageBody)})
	}
	return map[string]any{"Successful": done, "Failed": []string{}}, nil
}

func batchSize(n int) error {
	if n == 0 {
		return market.Errorf("EmptyBatchRequest", "There should be at least one DeleteMessageBatchRequestEntry in the request.")
	}
	if n > 10 {
		return market.Errorf("TooManyEntriesInBatchRequest", "Maximum number of entries per request are 10. You have sent %d.", n)
	}
	return nil
}

// receiveMessage answers when there is a message, or when the caller has waited long enough.
func receiveMessage(c *call) (any, error) {
	var in queueInput
	name, err := in.read(c)
	if err != nil {
		return nil, err
	}
	limit, hide := 1, time.Duration(-1)
	if in.MaxNumberOfMessages != nil {
		limit = *in.MaxNumberOfMessages
	}
	if limit < 1 || limit > 10 {
		return nil, market.Errorf(market.InvalidParameterValue, "Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", limit)
	}
	if in.VisibilityTimeout != nil {
		hide = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	left := time.Duration(in.WaitTimeSeconds) * time.Second
	for {
		got, more, err := c.market.Receive(name, limit, hide)
		if err != nil {
			return nil, err
		}
		if len(got) > 0 || left <= 0 {
			return received(in, got), nil
		}
		step := min(left, time.Second) // a hidden message may come back meanwhile
		left -= step
		if !arrives(c, more, step) {
			return received(in, nil), nil
		}
	}
}

// arrives waits for a message, but no longer than d; false if the caller has gone.
func arrives(c *call, more <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.ctx.Done():
		return false
	case <-more:
	case <-t.C:
	}
	return true
}

func received(in queueInput, got []market.Message) any {
	asked := append(slices.Clone(in.AttributeNames), in.MessageSystemAttributeNames...)
	out := []map[string]any{}
	for _, m := range got {
		all := map[string]string{
			"SenderId":                         "AIDAIENQZJOLO23YVJ4VO",
			"SentTimestamp":                    strconv.FormatInt(m.Sent.UnixMilli(), 10),
			"ApproximateReceiveCount":          strconv.Itoa(m.Received),
			"ApproximateFirstReceiveTimestamp": strconv.FormatInt(m.First.UnixMilli(), 10),
		}
		for k := range all {
			if !slices.Contains(asked, k) && !slices.Contains(asked, "All") {
				delete(all, k)
			}
		}
		msg := map[string]any{"MessageId": m.ID, "ReceiptHandle": m.Receipt, "Body": m.Body, "MD5OfBody": digest(m.Body)}
		if len(all) > 0 {
			msg["Attributes"] = all
		}
		out = append(out, msg)
	}
	if len(out) == 0 {
		return map[string]any{}
	}
	return map[string]any{"Messages": out}
}

func deleteMessage(c *call) (any, error) {
	var in queueInput
	name, err := in.read(c)
	if err != nil {
		return nil, err
	}
	return nil, c.market.Delete(name, in.ReceiptHandle)
}

func deleteMessageBatch(c *call) (any, error) {
	var in queueInput
	name, err := in.read(c)
	if err != nil {
		return nil, err
	}
	if err := batchSize(len(in.Entries)); err != nil {
		return nil, err
	}
	done := []map[string]string{}
	for _, e := range in.Entries {
		if err := c.market.Delete(name, e.ReceiptHandle); err != nil {
			return nil, err
		}
		done = append(done, map[string]string{"Id": e.Id})
	}
	return map[string]any{"Successful": done, "Failed": []string{}}, nil
}

func changeMessageVisibility(c *call) (any, error) {
	var in queueInput
	name, err := in.read(c)
	if err != nil {
		return nil, err
	}
	hide := 0
	if in.VisibilityTimeout != nil {
		hide = *in.VisibilityTimeout
	}
	return nil, c.market.Hide(name, in.ReceiptHandle, time.Duration(hide)*time.Second)
}

// digest is what SQS lets its clients check a body against.
func digest(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}
