package sqs_test

import (
	"sync"
	"testing"
)

func TestConcurrentConsumersReceiveEachMessageOnce(t *testing.T) {
	t.Parallel()
	const producers, perProducer, consumers = 6, 40, 4
	b := newBench(t)
	url := b.queue("jobs", nil)
	var mu sync.Mutex
	seen := map[string]int{}
	var all sync.WaitGroup
	for range producers {
		all.Go(func() {
			for range perProducer {
				b.send(url, "x", 0)
			}
		})
	}
	for range consumers {
		all.Go(func() {
			for range 2 * perProducer {
				for _, m := range b.receive(url, 0) {
					mu.Lock()
					seen[*m.MessageId]++
					mu.Unlock()
					b.deleteMessage(url, m.ReceiptHandle)
				}
			}
		})
	}
	all.Wait()
	for messages := b.receive(url, 0); len(messages) > 0; messages = b.receive(url, 0) {
		for _, m := range messages {
			seen[*m.MessageId]++
		}
	}
	if got, want := len(seen), producers*perProducer; got != want {
		t.Errorf("%d messages arrived, want %d", got, want)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("message %s arrived %d times", id, times)
		}
	}
}
