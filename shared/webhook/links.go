package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"recordbridge/shared/words/org"
)

// Download links are stored in events without their tokens. A copy of a table, backup or log therefore grants no access
// to files. Wire completes the download links when the event is sent or listed. Its result is never stored. Wire
// returns the same result each time (docs/develop/threats-network.md, Download links).

// LinkSigner adds the tokens to download links; export.Links implements it.
type LinkSigner interface {
	// SignLink adds the token to a tenant's stored link. If the link already has a token, SignLink returns it
	// unchanged.
	SignLink(tenant org.Tenant, address string) (string, error)
}

// linkToken separates a download link's URL from its token.
const linkToken = "?token="

// Wire returns the event's bytes as sent to webhooks and returned in the event list. The bytes are the same in each
// attempt. Errors are internal.
func (e Event) Wire(links LinkSigner) ([]byte, error) {
	return e.withLinks(func(address string) (string, error) { return links.SignLink(e.Tenant, address) })
}

// Shown returns the event's body for display, without the tokens in its download links. Errors are internal.
func (e Event) Shown() ([]byte, error) {
	return e.withLinks(func(address string) (string, error) {
		address, _, _ = strings.Cut(address, linkToken)
		return address, nil
	})
}

// withLinks returns the event's body with change applied to each download link. All other bytes are unchanged.
func (e Event) withLinks(change func(address string) (string, error)) ([]byte, error) {
	body := e.Body
	if e.Type != ExportSucceeded || len(body) == 0 {
		return body, nil
	}
	links, err := linksOf(body)
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		var address string
		if err := json.Unmarshal(link, &address); err != nil {
			return nil, fmt.Errorf("decode a download link: %w", err)
		}
		changed, err := change(address)
		if err != nil {
			return nil, fmt.Errorf("download link: %w", err)
		}
		encoded, err := json.Marshal(changed)
		if err != nil {
			return nil, fmt.Errorf("encode a download link: %w", err)
		}
		body = bytes.ReplaceAll(body, link, encoded)
	}
	return body, nil
}

// linksOf returns the download links of a patient.ehi_export_success event, including the manifest's link. The links
// are as they appear in the body, including quotation marks.
func linksOf(body []byte) ([]json.RawMessage, error) {
	type link struct {
		URL json.RawMessage `json:"url"`
	}
	var event struct {
		Data struct {
			Links    []link `json:"download_links"`
			Link     link   `json:"download_link"`
			Manifest link   `json:"manifest"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	var found []json.RawMessage
	for _, l := range append(event.Data.Links, event.Data.Link, event.Data.Manifest) {
		if len(l.URL) > 0 {
			found = append(found, l.URL)
		}
	}
	return found, nil
}

const (
	// hidden replaces parts of a download token in a stored response.
	hidden = "[hidden]"
	// minHiddenLength is the minimum length of a token part that is removed wherever it occurs. A shorter part, such as
	// the end of a truncated token, leaves so many characters unknown that the token can't be guessed.
	minHiddenLength = 12
)

// HideLinks removes download tokens from a response to the event, so that the response may be stored and displayed. If
// a receiver echoed its request, the log would otherwise store working links. sent is the body that was sent. HideLinks
// does not detect tokens that a receiver has re-encoded. Errors are internal.
func (e Event) HideLinks(a Answer, sent []byte) (Answer, error) {
	if e.Type != ExportSucceeded || len(sent) == 0 {
		return a, nil
	}
	links, err := linksOf(sent)
	if err != nil {
		return Answer{}, err
	}
	tokens := make([]string, 0, len(links))
	for _, link := range links {
		_, token, _ := strings.Cut(strings.Trim(string(link), `"`), linkToken)
		tokens = append(tokens, token)
	}
	a.Body = hide(tokens, a.Body)
	var header map[string]string // a new map, because the response's map belongs to the caller
	for name, value := range a.Header {
		if header == nil {
			header = make(map[string]string, len(a.Header))
		}
		header[name] = string(hide(tokens, []byte(value)))
	}
	a.Header = header
	return a, nil
}

// hide removes every token part of at least minHiddenLength characters from text.
func hide(tokens []string, text []byte) []byte {
	isTelling := make([]bool, len(text))
	for _, token := range tokens {
		for from := 0; from+minHiddenLength <= len(token); from++ {
			mark(isTelling, text, []byte(token[from:from+minHiddenLength]))
		}
	}
	shown := make([]byte, 0, len(text))
	for i, char := range text {
		switch {
		case !isTelling[i]:
			shown = append(shown, char)
		case i == 0 || !isTelling[i-1]:
			shown = append(shown, hidden...)
		}
	}
	return shown
}

func mark(marks []bool, text, part []byte) {
	for from := 0; ; {
		at := bytes.Index(text[from:], part)
		if at < 0 {
			return
		}
		for i := range part {
			marks[from+at+i] = true
		}
		from += at + 1
	}
}
