package market

import (
	"fmt"
	"time"
)

// Queue holds messages until they are deleted or too old.
type Queue struct {
	Name       string
	Created    time.Time
	Retention  time.Duration
	Visibility time.Duration

	messages []*message    // oldest first
	arrived  chan struct{} // closed and renewed when a message arrives
}

type message struct {
	Message
	until time.Time // invisible until then
}

// Message is one message of a queue.
type Message struct {
	ID       string
	Body     string
	Sent     time.Time
	Receipt  string // of the last receive; deleting needs it
	Received int
	First    time.Time // when it was first received
}

// AddQueue makes a queue.
func (m *Market) AddQueue(name string, retention time.Duration) {
	defer m.lock()()
	m.queues[name] = &Queue{Name: name, Created: m.at, Retention: retention, Visibility: 30 * time.Second, arrived: make(chan struct{})}
}

// DeleteQueue removes a queue with all its messages.
func (m *Market) DeleteQueue(name string) {
	defer m.lock()()
	delete(m.queues, name)
}

// HasQueue reports whether a queue exists.
func (m *Market) HasQueue(name string) bool {
	defer m.lock()()
	return m.queues[name] != nil
}

func (m *Market) queue(name string) (*Queue, error) {
	q, ok := m.queues[name]
	if !ok {
		return nil, Errorf(QueueDoesNotExist, "The specified queue does not exist.")
	}
	old := 0
	for old < len(q.messages) && m.at.Sub(q.messages[old].Sent) >= q.Retention {
		old++
	}
	q.messages = q.messages[old:]
	return q, nil
}

// Send puts a message into a queue and returns its id.
func (m *Market) Send(queue, body string) (string, error) {
	defer m.lock()()
	q, err := m.queue(queue)
	if err != nil {
		return "", err
	}
	msg := &message{Message: Message{ID: m.uuid("message"), Body: body, Sent: m.at}}
	q.messages = append(q.messages, msg)
	close(q.arrived)
	q.arrived = make(chan struct{})
	return msg.ID, nil
}

// Receive takes up to limit messages and hides them for a while. The channel is closed when another arrives.
// A negative visibility means the queue's own.
func (m *Market) Receive(queue string, limit int, visibility time.Duration) ([]Message, <-chan struct{}, error) {
	defer m.lock()()
	q, err := m.queue(queue)
	if err != nil {
		return nil, nil, err
	}
	if visibility < 0 {
		visibility = q.Visibility
	}
	var out []Message
	for _, msg := range q.messages {
		if len(out) == limit {
			break
		}
		if msg.until.After(m.at) {
			continue
		}
		msg.Received++
		if msg.First.IsZero() {
			msg.First = m.at
		}
		msg.until = m.at.Add(visibility)
		msg.Receipt = fmt.Sprintf("%s#%d", msg.ID, msg.Received)
		out = append(out, msg.Message)
	}
	return out, q.arrived, nil
}

// Delete removes a received message. A receipt of a message that is gone is fine.
func (m *Market) Delete(queue, receipt string) error {
	defer m.lock()()
	q, err := m.queue(queue)
	if err != nil {
		return err
	}
	for k, msg := range q.messages {
		if msg.Receipt == receipt {
			q.messages = append(q.messages[:k], q.messages[k+1:]...)
			return nil
		}
	}
	return nil
}

// Hide changes for how long a received message stays hidden.
func (m *Market) Hide(queue, receipt string, visibility time.Duration) error {
	defer m.lock()()
	q, err := m.queue(queue)
	if err != nil {
		return err
	}
	for _, msg := range q.messages {
		if msg.Receipt == receipt {
			msg.until = m.at.Add(visibility)
			return nil
		}
	}
	return Errorf(ReceiptHandleIsInvalid, "The input receipt handle is invalid.")
}

// Depth counts a queue's messages: those that can be received and those that are hidden.
func (m *Market) Depth(queue string) (visible, hidden int, err error) {
	defer m.lock()()
	q, err := m.queue(queue)
	if err != nil {
		return 0, 0, err
	}
	for _, msg := range q.messages {
		if msg.until.After(m.at) {
			hidden++
		} else {
			visible++
		}
	}
	return visible, hidden, nil
}

// QueueInfo returns what a queue was made with.
func (m *Market) QueueInfo(queue string) (Queue, error) {
	defer m.lock()()
	q, err := m.queue(queue)
	if err != nil {
		return Queue{}, err
	}
	return Queue{Name: q.Name, Created: q.Created, Retention: q.Retention, Visibility: q.Visibility}, nil
}
