// Package inbox receives webhooks on behalf of the seeded organisations, so that people, scripts and tests can inspect
// the service's deliveries. The inbox holds the newest 1000 deliveries in memory and doesn't send any requests. Every
// delivery is accepted, even if its signature is invalid. List reports whether each signature is valid.
package inbox

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	keep    = 1000    // maximum number of deliveries; the oldest are dropped first
	maxBody = 1 << 20 // maximum body size in bytes; Recordbridge's webhooks are much smaller
)

// Delivery is a received webhook request. The JSON format is documented in README.md, "What make run shows", with the
// inbox_url of run.json.
type Delivery struct {
	ReceivedAt time.Time         `json:"received_at"`
	Method     string            `json:"method"`
	Path       string            `json:"path"`
	Headers    map[string]string `json:"headers"` // names in lower case; values joined with ", "
	Body       string            `json:"body"`

	// The following fields are not part of the documented format.
	Number    int       `json:"-"` // one-based sequence number of the delivery
	Signature Signature `json:"-"` // result of verifying the signature
	Reason    string    `json:"-"` // reason why the signature is not Verified
}

// Inbox stores webhook deliveries and serves them as lists. Every path below the Inbox's root is a separate inbox. A
// request for the root lists the deliveries of all inboxes.
type Inbox struct {
	root string

	mu       sync.Mutex
	received []Delivery
	count    int               // total number of deliveries received
	secrets  map[string]string // secrets by inbox name
}

// New returns an Inbox that must be served at root, such as "/_local/inbox", and at all paths below root.
func New(root string) *Inbox {
	return &Inbox{root: path.Clean(root), secrets: make(map[string]string)}
}

// Expect sets the secret ("whsec_…") with which deliveries to root/name are verified.
func (b *Inbox) Expect(name, secret string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.secrets[name] = secret
}

// List returns the stored deliveries, oldest first, with the results of verifying their signatures.
func (b *Inbox) List() []Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.received)
	for i := range list {
		name, _, _ := strings.Cut(strings.TrimPrefix(list[i].Path, b.root+"/"), "/")
		list[i].Signature, list[i].Reason = verify(b.secrets[name], list[i])
	}
	return list
}

// ServeHTTP stores a POST request and responds with 200. ServeHTTP responds to a GET request with a JSON list of the
// deliveries at or below the path, oldest first.
func (b *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		w.WriteHeader(b.store(w, r))
	case http.MethodGet, http.MethodHead:
		b.list(w, r)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (b *Inbox) store(w http.ResponseWriter, r *http.Request) int {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return http.StatusBadRequest
	}
	headers := make(map[string]string, len(r.Header))
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.received) == keep {
		b.received = slices.Delete(b.received, 0, 1)
	}
	b.count++
	b.received = append(b.received, Delivery{
		Number: b.count, ReceivedAt: time.Now().UTC(), Method: r.Method, Path: r.URL.Path, Headers: headers,
		Body: string(body),
	})
	return http.StatusOK
}

func (b *Inbox) list(w http.ResponseWriter, r *http.Request) {
	at := path.Clean(r.URL.Path)
	list := []Delivery{} // encoded as [] instead of null, because scripts count the list's elements
	for _, d := range b.List() {
		if d.Path == at || strings.HasPrefix(d.Path, at+"/") {
			list = append(list, d)
		}
	}
	body, err := json.Marshal(list)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(append(body, '\n')) // the client may have disconnected
}
