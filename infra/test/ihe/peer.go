// Package ihe is a Responding Gateway to test shared/tefca/ihe against: a small server over mutual TLS that verifies
// what a QHIN would verify of a request, and answers as it is switched. Its messages are written independently of the
// adapter's. It keeps nothing, and knows one invented person.
package ihe

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"github.com/beevik/etree"

	"recordbridge/shared/tefca"
)

// Transaction is what a gateway is asked for; it is also where.
type Transaction string

// The transactions (IHE ITI TF-2, 3.55, 3.38 and 3.39).
const (
	Discovery Transaction = "/discovery"
	Query     Transaction = "/query"
	Retrieve  Transaction = "/retrieve"
)

// Switch is one way to answer. Those that make no sense of a transaction do nothing.
type Switch string

// The switches. Without one a gateway finds its person, lists its documents, and sends each as an attachment (MTOM).
const (
	NoMatch     Switch = "no match"     // the person is not known
	Ambiguous   Switch = "ambiguous"    // more attributes are asked for
	Several     Switch = "several"      // two records of one community
	Failing     Switch = "failing"      // an error in the words of the transaction
	Denied      Switch = "denied"       // a SOAP fault of WS-Security
	Fault       Switch = "fault"        // a SOAP fault of the receiver
	Partial     Switch = "partial"      // a list that is not whole
	Slow        Switch = "slow"         // no answer, for as long as somebody waits
	Cut         Switch = "cut"          // a connection that ends within the answer
	Malformed   Switch = "malformed"    // XML that ends too early
	Unrelated   Switch = "unrelated"    // the answer to another message
	Foreign     Switch = "foreign"      // an answer of another community
	Mixed       Switch = "mixed"        // one of its own, and one of another community
	OtherPerson Switch = "other person" // of another patient
	OtherThing  Switch = "other thing"  // another document
	Twice       Switch = "twice"        // one id for two documents
	Inline      Switch = "inline"       // a document as base64
	Large       Switch = "large"        // a document larger than what is read
	Missing     Switch = "missing"      // the document is not there any more
	BusyOnce    Switch = "busy once"    // 503 at the first time
	AlwaysBusy  Switch = "always busy"
)

// Document is one that the gateway has of its person.
type Document struct {
	ID, Repository, Title string
	Content               []byte
	OnDemand              bool

	// Departures from the profiles.
	Home     string // home attribute of the entry; empty for the gateway's
	Patient  string // patient id (CX) of the entry; empty for the person's
	ID2      string // second uniqueId of the entry, if any
	Spelt    string // DocumentUniqueId in the retrieval's answer; empty for ID
	Unplaced bool   // the entry names no repository, and retrievals name the community instead
}

// Options of a Peer.
type Options struct {
	Home      string // its home community id
	Knows     tefca.Person
	Patient   string     // the id of that person; the assigning authority is the community
	Clients   *Authority // of whose certificates one has to be shown
	Audience  string     // which home community id may ask
	Documents []Document
	Now       func() time.Time
}

// Peer is a running gateway. It is safe for concurrent use.
type Peer struct {
	URL string

	options Options
	server  *httptest.Server
	mu      sync.Mutex
	set     map[Transaction]Switch
	seen    map[Transaction]int
	refused []string
	last    map[Transaction][]byte
	said    string
}

// Start runs a gateway on loopback with a certificate of its authority. Close it.
func Start(issuer *Authority, o Options) (*Peer, error) {
	own, err := issuer.serves()
	if err != nil {
		return nil, err
	}
	clients := x509.NewCertPool()
	clients.AddCert(o.Clients.certificate)
	p := &Peer{
		options: o, set: make(map[Transaction]Switch), seen: make(map[Transaction]int),
		last: make(map[Transaction][]byte),
	}
	mux := http.NewServeMux()
	for _, t := range []Transaction{Discovery, Query, Retrieve} {
		mux.HandleFunc("POST "+string(t), func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, t) })
	}
	p.server = httptest.NewUnstartedServer(mux)
	p.server.TLS = &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own}, ClientCAs: clients,
		ClientAuth: tls.RequireAndVerifyClientCert,
	}
	// what clients break is none of its business
	p.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	p.server.StartTLS()
	p.URL = p.server.URL
	return p, nil
}

// Close ends the gateway, and whoever still waits for it.
func (p *Peer) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Switch makes a transaction be answered in a way from now on.
func (p *Peer) Switch(t Transaction, to Switch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set[t] = to
}

// Seen counts the requests of a transaction that arrived.
func (p *Peer) Seen(t Transaction) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[t]
}

// Refused tells why requests were refused, in order.
func (p *Peer) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.refused...)
}

// Last is the body of the last request of a transaction, with its Content-Type.
func (p *Peer) Last(t Transaction) (body []byte, contentType string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last[t], p.said
}

func (p *Peer) serve(w http.ResponseWriter, r *http.Request, t Transaction) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		return
	}
	p.mu.Lock()
	p.seen[t]++
	p.last[t], p.said = body, r.Header.Get("Content-Type")
	first, set := p.seen[t] == 1, p.set[t]
	p.mu.Unlock()
	document, err := message(r.Header.Get("Content-Type"), body)
	if err == nil {
		err = p.accepts(document, r.TLS.PeerCertificates[0], p.URL+string(t))
	}
	if err != nil {
		p.mu.Lock()
		p.refused = append(p.refused, err.Error())
		p.mu.Unlock()
		respond(w, http.StatusInternalServerError, faultOf("soap:Sender", "wsse:FailedAuthentication"))
		return
	}
	switch {
	case set == Slow:
		<-r.Context().Done()
	case set == AlwaysBusy, set == BusyOnce && first:
		w.WriteHeader(http.StatusServiceUnavailable)
	case set == Denied:
		respond(w, http.StatusInternalServerError, faultOf("soap:Sender", "wsse:FailedAuthentication"))
	case set == Fault:
		respond(w, http.StatusInternalServerError, faultOf("soap:Receiver", ""))
	default:
		p.answer(w, document, t, set)
	}
}

// answer writes what a transaction is answered with.
func (p *Peer) answer(w http.ResponseWriter, document *etree.Document, t Transaction, set Switch) {
	id := text(document, "MessageID")
	if set == Unrelated {
		id = "urn:uuid:00000000-0000-4000-8000-000000000000"
	}
	var inner string
	var attached []byte
	switch t {
	case Discovery:
		inner = p.discover(document, set)
	case Query:
		inner = p.list(document, set)
	case Retrieve:
		inner, attached = p.retrieve(document, set)
	}
	whole := envelopeOf(id, inner)
	if set == Malformed {
		whole = whole[:len(whole)/2]
	}
	if set == Cut {
		w.Header().Set("Content-Length", strconv.Itoa(2*len(whole)))
	}
	if attached == nil || set == Cut {
		respond(w, http.StatusOK, whole)
		return
	}
	respondPackaged(w, whole, attached)
}

var errNoMessage = errors.New("no message")
