// Package ses implements an embedded Amazon SES v1 server (Query protocol, XML responses). It accepts mail and stores
// it for tests and the console. Delivery, identity verification, templates, configuration sets and receipt rules are
// not supported.
//
// Rules without a cited source follow the Amazon SES API reference.
package ses

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const (
	serviceName   = "ses"
	namespace     = "http://ses.amazonaws.com/doc/2010-12-01/"
	maxForm       = 14 << 20 // SES's limit is 10 MB per email, and base64 adds a third
	maxRecipients = 50
	maxMessage    = 10 << 20
	maxAddress    = 320
	keep          = 1000 // maximum number of emails stored; the oldest is dropped first
)

// Mail is an email that the server has accepted.
type Mail struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	From    string    `json:"from"`
	To      []string  `json:"to,omitempty"` // every recipient, including Cc and Bcc
	ReplyTo []string  `json:"reply_to,omitempty"`
	Subject string    `json:"subject,omitempty"`
	Text    string    `json:"text,omitempty"`
	HTML    string    `json:"html,omitempty"`
}

// Server is the SES service. Use New to create a Server.
type Server struct {
	journal wire.Journal

	mu     sync.RWMutex
	sent   []Mail
	paused bool // true if the account may not send; not journalled, so a restarted server sends again
}

// New returns a service that has no mail. Every email is appended to journal before it counts as sent.
func New(journal wire.Journal) *Server { return &Server{journal: journal} }

// Sent returns up to 1000 of the latest emails, oldest first.
func (s *Server) Sent() []Mail {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.sent)
}

// Name implements wire.Service.
func (s *Server) Name() string { return serviceName }

// Operation implements wire.Service. Operation parses r's form; Serve can still read it afterwards.
func (s *Server) Operation(r *http.Request) string {
	if r.PostForm == nil {
		r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return ""
		}
	}
	return r.PostForm.Get("Action")
}

// Replay implements wire.Service.
func (s *Server) Replay(raw json.RawMessage) error {
	var m Mail
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("ses record: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(m)
	return nil
}

// Dump implements wire.Service.
func (s *Server) Dump(emit func(record any) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, m := range s.sent {
		if err := emit(m); err != nil {
			return err
		}
	}
	return nil
}

// Serve implements wire.Service.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, _ wire.Call) {
	operation := s.Operation(r)
	perform, ok := map[string]func(url.Values) (result, error){
		"SendEmail":                         s.send,
		"GetSendQuota":                      s.quota,
		"GetAccountSendingEnabled":          s.isEnabled,
		"GetIdentityVerificationAttributes": verification,
		"UpdateAccountSendingEnabled":       s.enable,
	}[operation]
	if !ok {
		writeError(w, wire.Fail("InvalidAction", "operation %q is not part of the embedded AWS", operation))
		return
	}
	got, err := perform(r.PostForm)
	if err != nil {
		writeError(w, err)
		return
	}
	got.XMLName = xml.Name{Local: operation + "Result"}
	writeXML(w, http.StatusOK, response{
		XMLName: xml.Name{Space: namespace, Local: operation + "Response"}, Result: got,
		Request: uuid.NewString(),
	})
}

func (s *Server) send(form url.Values) (result, error) {
	if name := form.Get("ConfigurationSetName"); name != "" {
		return result{}, wire.Fail("ConfigurationSetDoesNotExist", "Configuration set <%s> does not exist.", name)
	}
	m := fromForm(form)
	if err := m.check(); err != nil {
		return result{}, err
	}
	m, err := s.accept(m)
	return result{MessageID: m.ID}, err
}

// enable implements UpdateAccountSendingEnabled, whose parameter defaults to false.
func (s *Server) enable(form url.Values) (result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = form.Get("Enabled") != "true"
	return result{}, nil
}

// isEnabled implements GetAccountSendingEnabled.
func (s *Server) isEnabled(url.Values) (result, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	enabled := !s.paused
	return result{Enabled: &enabled}, nil
}

// verification reports every identity as verified, because the embedded SES accepts every sender.
func verification(form url.Values) (result, error) {
	identities := list(form, "Identities")
	found := make([]attributes, 0, len(identities))
	for _, identity := range identities {
		found = append(found, attributes{Identity: identity, Status: "Success"})
	}
	return result{Identities: found}, nil
}

// quota returns the quota of an account outside SES's sandbox. The embedded SES does not enforce the quota.
func (s *Server) quota(url.Values) (result, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sent, since := 0.0, time.Now().Add(-24*time.Hour)
	for _, m := range s.sent {
		if m.At.After(since) {
			sent++
		}
	}
	return result{Max24HourSend: 50_000, MaxSendRate: 14, SentLast24Hours: &sent}, nil
}

// keep stores m. The caller must hold the lock.
func (s *Server) keep(m Mail) {
	if len(s.sent) == keep {
		s.sent = slices.Delete(s.sent, 0, 1)
	}
	s.sent = append(s.sent, m)
}

func (s *Server) accept(m Mail) (Mail, error) {
	m.ID, m.At = uuid.NewString(), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused {
		return Mail{}, wire.Fail("AccountSendingPausedException", "Email sending is disabled for your entire account.")
	}
	if err := s.journal.Append(serviceName, m); err != nil {
		return Mail{}, err
	}
	s.keep(m)
	return m, nil
}

func fromForm(form url.Values) Mail {
	return Mail{
		From: form.Get("Source"),
		To: slices.Concat(list(form, "Destination.ToAddresses"), list(form, "Destination.CcAddresses"),
			list(form, "Destination.BccAddresses")),
		ReplyTo: list(form, "ReplyToAddresses"),
		Subject: form.Get("Message.Subject.Data"),
		Text:    form.Get("Message.Body.Text.Data"),
		HTML:    form.Get("Message.Body.Html.Data"),
	}
}

// list reads a list parameter of the Query protocol: name.member.1, name.member.2, …
func list(form url.Values, name string) []string {
	var out []string
	for i := 1; form.Has(name + ".member." + strconv.Itoa(i)); i++ {
		out = append(out, form.Get(name+".member."+strconv.Itoa(i)))
	}
	return out
}

// check returns an error for mail that SES would reject even if all its identities were verified.
func (m Mail) check() error {
	if len(m.To) == 0 {
		return wire.Fail("InvalidParameterValue", "Missing required header 'To'.")
	}
	if len(m.To) > maxRecipients {
		return wire.Fail("InvalidParameterValue", "Recipient count exceeds %d.", maxRecipients)
	}
	for _, address := range slices.Concat([]string{m.From}, m.To, m.ReplyTo) {
		if err := checkAddress(address); err != nil {
			return err
		}
	}
	if m.Text == "" && m.HTML == "" {
		return wire.Fail("InvalidParameterValue", "Must supply a body: text, HTML or both.")
	}
	if strings.ContainsFunc(m.Subject, unicode.IsControl) {
		return wire.Fail("InvalidParameterValue", "The subject holds control characters.")
	}
	if size := len(m.Text) + len(m.HTML); size > maxMessage {
		return wire.Fail("InvalidParameterValue", "Message length is more than %d bytes long: '%d'.", maxMessage, size)
	}
	return nil
}

// checkAddress accepts an email address with or without a display name. The address must be ASCII, because SES does not
// support SMTPUTF8. International domains must be in Punycode (API reference, SendEmail, Source).
func checkAddress(text string) error {
	parsed, err := mail.ParseAddress(text)
	if err != nil {
		return wire.Fail("InvalidParameterValue", "Missing final '@domain'")
	}
	if len(parsed.Address) > maxAddress {
		return wire.Fail("InvalidParameterValue", "The address is longer than %d characters.", maxAddress)
	}
	if strings.ContainsFunc(parsed.Address, func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }) {
		return wire.Fail("InvalidParameterValue", "Local address contains control or whitespace, or the address is not ASCII")
	}
	return nil
}
