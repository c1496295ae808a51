package webhook

import (
	"bytes"
	"strings"
)

const (
	// hidden stands where a part of a download token was.
	hidden = "[hidden]"
	// tellingPart is how many characters of a token are hidden wherever they stand. What is shorter, such as the rest of a
	// token that was cut off, lacks more than can be guessed.
	tellingPart = 12
)

// HideLinks returns an answer to the event as it may be kept and shown: a receiver that repeats what it was sent, repeats
// download links that open their files. Sent is the body that was sent. What a receiver has encoded in a way of its own is
// not found. The error is our own fault.
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
	for i, letter := range text {
		switch {
		case !isTelling[i]:
			shown = append(shown, letter)
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
