package scene

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// tolerance is the age at which receivers reject a webhook, as Standard Webhooks recommends.
const tolerance = 5 * time.Minute

// Receiver is an organisation's webhook receiver whose clock can be wrong.
type Receiver struct {
	URL string

	server *http.Server

	mu       sync.Mutex
	ahead    time.Duration
	accepted int
}

// NewReceiver starts a receiver whose clock is ahead. The caller must close the receiver.
func NewReceiver(ctx context.Context, ahead time.Duration) (*Receiver, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Receiver{URL: "http://" + listener.Addr().String() + "/webhook", ahead: ahead}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Second}
	go func() { _ = r.server.Serve(listener) }() // ends when Close closes the listener
	return r, nil
}

// ServeHTTP accepts a webhook unless its time differs too much from the receiver's clock.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	seconds, err := strconv.ParseInt(request.Header.Get("webhook-timestamp"), 10, 64)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || time.Now().Add(r.ahead).Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.accepted++
}

// SetClock sets how far the receiver's clock is ahead.
func (r *Receiver) SetClock(ahead time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ahead = ahead
}

// Accepted returns the number of accepted webhooks.
func (r *Receiver) Accepted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accepted
}

// Close stops the receiver.
func (r *Receiver) Close() { _ = r.server.Close() }
