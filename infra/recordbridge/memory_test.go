package main

import (
	"sync"
	"testing"
)

func TestKeepSucceedsWhenSeveralProcessesKeepSameMemory(t *testing.T) {
	t.Parallel()
	command, _ := newTool(t, newFeed(t))
	m, err := command.recall(account{baseURL: "http://127.0.0.1/v1", publicID: "public_test_1"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				if err := m.keep(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
