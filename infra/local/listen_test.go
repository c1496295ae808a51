package main

import (
	"errors"
	"net/netip"
	"syscall"
	"testing"

	"recordbridge/infra/local/engine"
)

// TestListenAllFailsWhenContainerPortsAreInUse also uses the loopback address for containers, so every port is already
// taken.
func TestListenAllFailsWhenContainerPortsAreInUse(t *testing.T) {
	t.Parallel()
	where := place{engine: &engine.Engine{Host: netip.MustParseAddr("127.0.0.1")}}
	if _, err := listenAll(t.Context(), "127.0.0.1:0", where); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v, want %v", err, syscall.EADDRINUSE)
	}
}
