package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
)

// pageStyle is the only style of the page. The record viewer has a style sheet of its own.
const pageStyle = `:root{color-scheme:light dark;--ground:#f5f7f9;--soft:#4b5a67}` +
	`@media(prefers-color-scheme:dark){:root{--ground:#10161b;--soft:#aab7c2}}` +
	`body{margin:0;background:var(--ground);--record-background:var(--ground);font:1rem/1.5 system-ui,sans-serif}` +
	`main{max-width:68rem;margin:0 auto;padding:1rem max(1rem,env(safe-area-inset-left))}` +
	`h1,main>p{margin:0 0 1rem;color:var(--soft);font-size:.9375rem;font-weight:400}h1{margin:0;font-weight:600}`

// around returns the parts of the page before and after the records. The page's policy allows the script and the style
// by their hashes, and no request.
func around(script []byte) (head, tail string, err error) {
	// These texts would end the script element, or change how the browser reads it.
	for _, end := range []string{"</script", "<script", "<!--"} {
		if bytes.Contains(bytes.ToLower(script), []byte(end)) {
			return "", "", fmt.Errorf("the record viewer's script contains %s", end)
		}
	}
	head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-` + hash(script) +
		`'; style-src 'sha256-` + hash([]byte(pageStyle)) + `'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Health record</title>
<style>` + pageStyle + `</style>
</head>
<body>
<main>
<h1>Health record</h1>
<p>This page is a file on your device. It sends no data.</p>
<record-view><script type="application/x-ndjson">`
	tail = "</script></record-view>\n</main>\n<script type=\"module\">" + string(script) + "</script>\n</body>\n</html>\n"
	return head, tail, nil
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// addRecord writes the text of a file, unpacked if necessary. In JSON, "<" occurs only within strings, so its escape
// keeps the values and can't end the page's script element.
func addRecord(w io.Writer, file string) error {
	f, err := os.Open(file) //nolint:gosec // The user named the file.
	if err != nil {
		return fmt.Errorf("read the record: %w", err)
	}
	defer func() { _ = f.Close() }() // Errors are ignored, because the file was only read.
	text, err := unpacked(bufio.NewReader(f))
	if err != nil {
		return err
	}
	buffer := make([]byte, 64<<10)
	for {
		n, readErr := text.Read(buffer)
		if _, err := w.Write(bytes.ReplaceAll(buffer[:n], []byte("<"), []byte(`\u003c`))); err != nil {
			return fmt.Errorf("write the record: %w", err)
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return fmt.Errorf("read the record: %w", readErr)
		}
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return nil
}
