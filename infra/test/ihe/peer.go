// Package ihe implements a Responding Gateway for tests of shared/tefca/ihe. The gateway is a small mutual-TLS server
// that verifies requests as a QHIN does. Switches select how the gateway responds. The gateway and the adapter share no
// code for messages. The gateway knows one fictional person and stores no data.
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

// Transaction is the URL path of an IHE transaction at a gateway.
type Transaction string

// Transactions that a gateway supports (IHE ITI TF-2, 3.55, 3.38 and 3.39).
const (
	Discovery Transaction = "/discovery"
	Query     Transaction = "/query"
	Retrieve  Transaction = "/retrieve"
)

// Switch selects a kind of gateway response. Each switch affects only certain transactions.
type Switch string

// Switches that change a gateway's responses. By default, a gateway matches its only person, lists the person's
// documents, and sends each document as an MTOM attachment.
const (
	NoMatch     Switch = "no match"     // no matching person
	Ambiguous   Switch = "ambiguous"    // response that requests additional attributes
	Several     Switch = "several"      // two matching records in the same community
	Failing     Switch = "failing"      // error response defined by the transaction
	Denied      Switch = "denied"       // a SOAP fault defined by WS-Security
	Fault       Switch = "fault"        // SOAP fault with code Receiver
	Partial     Switch = "partial"      // incomplete document list
	Slow        Switch = "slow"         // no response until the client disconnects
	Cut         Switch = "cut"          // connection closed in the middle of the response
	Malformed   Switch = "malformed"    // truncated XML
	Unrelated   Switch = "unrelated"    // response to a different message
	Foreign     Switch = "foreign"      // response from another community
	Mixed       Switch = "mixed"        // one match in the gateway's community and one in another community
	OtherPerson Switch = "other person" // another patient's data
	OtherThing  Switch = "other thing"  // a document that was not requested
	Twice       Switch = "twice"        // two documents with the same ID
	Inline      Switch = "inline"       // document sent inline, as base64
	Large       Switch = "large"        // document that exceeds the size limit
	Missing     Switch = "missing"      // document that no longer exists
	BusyOnce    Switch = "busy once"    // responds to the first request with 503
	AlwaysBusy  Switch = "always busy"
)

// Document is one of the fictional person's documents.
type Document struct {
	ID, Repository, Title string
	Content               []byte
	OnDemand              bool

	// The following fields make the document's entry deviate from the IHE profiles.
	Home     string // the entry's home attribute; defaults to the gateway's community ID
	Patient  string // the entry's patient ID (CX); defaults to the person's ID
	ID2      string // second uniqueId of the entry, if any
	Spelt    string // DocumentUniqueId in the retrieve response; defaults to ID
	Unplaced bool   // whether the entry omits the repository, in which case retrievals use the community ID
}

// Options configures a Peer.
type Options struct {
	Home      string // the gateway's home community ID
	Knows     tefca.Person
	Patient   string     // ID of the person in the community
	Clients   *Authority // issuer of accepted client certificates
	Audience  string     // home community ID of the permitted client
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

// Start runs a gateway on the loopback interface with a certificate from issuer. The caller must close the Peer.
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
	// TLS errors caused by clients are expected, so the server doesn't log them.
	p.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	p.server.StartTLS()
	p.URL = p.server.URL
	return p, nil
}

// Close stops the gateway and closes all connections.
func (p *Peer) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Switch changes how the gateway responds to a transaction.
func (p *Peer) Switch(t Transaction, to Switch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set[t] = to
}

// Seen returns the number of requests that the gateway has received for a transaction.
func (p *Peer) Seen(t Transaction) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[t]
}

// Refused returns the reason for each rejected request, in order.
func (p *Peer) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.refused...)
}

// Last returns the body of a transaction's last request. contentType is that of the last request of any transaction.
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
