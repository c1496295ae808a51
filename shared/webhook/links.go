package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"recordbridge/shared/words/org"
)

// An event that leads to files is stored with download links that open nothing, so that no copy of a table, backup or
// log does. Wire makes the links whole, when the event is sent or listed, and nothing stores what Wire returns. It is
// the same each time (docs/develop/threat-model.md, Download links).

// LinkSigner makes download links open their files (export.Links).
type LinkSigner interface {
	// SignLink makes a stored link of a tenant whole. One that is whole already stays as it is.
	SignLink(tenant org.Tenant, address string) (string, error)
}

// linkToken stands between the address of a download link and what makes it open the file.
const linkToken = "?token="

// Wire returns the bytes that tell the event: to a webhook, in each attempt, and in the list of events. Errors are
// those of links, our own faults.
func (e Event) Wire(links LinkSigner) ([]byte, error) {
	return e.withLinks(func(address string) (string, error) { return links.SignLink(e.Tenant, address) })
}

// Shown returns the body as people may see it: of download links it has the addresses alone.
// The error is our own fault.
func (e Event) Shown() ([]byte, error) {
	return e.withLinks(func(address string) (string, error) {
		address, _, _ = strings.Cut(address, linkToken)
		return address, nil
	})
}

// withLinks returns the body with changed download links. Every other byte stays.
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

// linksOf finds the download links of a patient.ehi_export_success, as they are written in its body, with their quotes.
func linksOf(body []byte) ([]json.RawMessage, error) {
	type link struct {
		URL json.RawMessage `json:"url"`
	}
	var event struct {
		Data struct {
			Links []link `json:"download_links"`
			Link  *link  `json:"download_link"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	if event.Data.Link != nil {
		event.Data.Links = append(event.Data.Links, *event.Data.Link)
	}
	var found []json.RawMessage
	for _, l := range event.Data.Links {
		if len(l.URL) > 0 {
			found = append(found, l.URL)
		}
	}
	return found, nil
}

const (
	// hidden stands where a part of a download token was.
	hidden = "[hidden]"
	// tellingPart is how many characters of a token are hidden wherever they stand. What is shorter, such as the rest of a
	// token that was cut off, lacks more than can be guessed.
	tellingPart = 12
)

// HideLinks returns an answer to the event as it may be kept and shown: a receiver that repeats what it was sent,
// repeats download links that open their files. Sent is the body that was sent. What a receiver has encoded in a way of
// its own is not found. The error is our own fault.
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
	var header map[string]string // a new one: the answer's is the caller's
	for name, value := range a.Header {
		if header == nil {
			header = make(map[string]string, len(a.Header))
		}
		header[name] = string(hide(tokens, []byte(value)))
	}
	a.Header = header
	return a, nil
}

// hide returns text without every part of tokens that tells something.
func hide(tokens []string, text []byte) []byte {
	isTelling := make([]bool, len(text))
	for _, token := range tokens {
		for from := 0; from+tellingPart <= len(token); from++ {
			mark(isTelling, text, []byte(token[from:from+tellingPart]))
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

// mark marks where a part stands in a text.
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
