package recordbridge

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"strings"
)

// maxErrorBody limits the body that is read of a rejected download's response.
const maxErrorBody = 64 << 10

// File is a file to download: a link of the success event or of an export's result.
type File struct {
	URL        string
	ExportType string
	Name       string
	// SHA256, in hex, is checked if it isn't empty.
	SHA256 string
	// Bytes is the size. It is checked if it isn't 0.
	Bytes int64
	// Resources is the number of resources, which VerifiedFiles sets. Client.Resources checks it if it isn't 0.
	Resources int
}

// Progress gets the number of bytes that have been read, and the file's size or 0.
type Progress func(read, total int64)

// Resource is a FHIR resource. Raw is its JSON.
type Resource struct {
	ResourceType string
	ID           string
	Raw          json.RawMessage
}

// Download returns a file's bytes. A broken connection is resumed after the last byte. If the size or the SHA-256
// differs from the file's, the reader returns ErrFileMismatch instead of io.EOF. Close the reader. The progress may be
// nil.
func (c *Client) Download(ctx context.Context, file File, progress Progress) io.ReadCloser {
	return &download{ctx: ctx, client: c.links, file: file, progress: progress, digest: sha256.New(), attempt: 1}
}

// Resources yields the FHIR resources of a jsonl file while it is downloaded. An error ends the sequence. See Download.
func (c *Client) Resources(ctx context.Context, file File, progress Progress) iter.Seq2[Resource, error] {
	return func(yield func(Resource, error) bool) {
		body := c.Download(ctx, file, progress)
		defer func() { _ = body.Close() }()
		lines, count := bufio.NewReader(body), 0
		for {
			line, readErr := lines.ReadBytes('\n')
			if readErr != nil && !errors.Is(readErr, io.EOF) {
				yield(Resource{}, readErr)
				return
			}
			if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
				fields := struct{ ResourceType, ID string }{}
				if err := json.Unmarshal(line, &fields); err != nil {
					yield(Resource{}, err)
					return
				}
				if !yield(Resource{ResourceType: fields.ResourceType, ID: fields.ID, Raw: line}, nil) {
					return
				}
				count++
			}
			if readErr != nil {
				break
			}
		}
		if file.Resources != 0 && count != file.Resources {
			yield(Resource{}, fmt.Errorf("%w: %d resources, not %d", ErrFileMismatch, count, file.Resources))
		}
	}
}

// download reads a file, in several requests if the connection breaks.
type download struct {
	ctx      context.Context //nolint:containedctx // a reader's methods have no context
	client   *retrying
	file     File
	progress Progress
	digest   hash.Hash
	read     int64
	attempt  int
	body     io.ReadCloser
	err      error
}

// Read implements io.Reader.
func (d *download) Read(buffer []byte) (int, error) {
	for d.err == nil {
		if d.body == nil {
			if d.err = d.open(); d.err != nil {
				break
			}
		}
		n, err := d.body.Read(buffer)
		if n > 0 {
			d.count(buffer[:n])
		}
		switch {
		case errors.Is(err, io.EOF) || d.file.Bytes != 0 && d.read > d.file.Bytes:
			d.err = d.check()
		case err != nil:
			d.err = d.resume(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, d.err
}

// Close implements io.Closer.
func (d *download) Close() error {
	if d.err == nil {
		d.err = fs.ErrClosed
	}
	if d.body == nil {
		return nil
	}
	return d.body.Close()
}

// open requests the rest of the file. Each request gets a new redirect to the file, which expires after ten minutes.
func (d *download) open() error {
	request, err := http.NewRequestWithContext(d.ctx, http.MethodGet, d.file.URL, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "identity") // ranges are of the plain file
	want, from := http.StatusOK, ""
	if d.read > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.read))
		want, from = http.StatusPartialContent, fmt.Sprintf("bytes %d-", d.read)
	}
	response, err := d.client.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != want {
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
		return refusal(response.StatusCode, body)
	}
	if got := response.Header.Get("Content-Range"); !strings.HasPrefix(got, from) {
		_ = response.Body.Close()
		return fmt.Errorf("recordbridge: the download can't be resumed at byte %d: the server sent %q", d.read, got)
	}
	d.body = response.Body
	return nil
}

// count records a chunk.
func (d *download) count(part []byte) {
	d.read += int64(len(part))
	d.attempt = 1
	d.digest.Write(part)
	if d.progress != nil {
		d.progress(d.read, d.file.Bytes)
	}
}

// resume waits, so that the next Read requests the rest. It returns the connection's error after the last attempt.
func (d *download) resume(err error) error {
	_ = d.body.Close()
	d.body = nil
	if d.attempt >= d.client.attempts || d.ctx.Err() != nil {
		return err
	}
	d.attempt++
	return d.client.pause(d.ctx, delay(d.attempt-1, ""))
}

// check returns io.EOF if the file has its size and its digest.
func (d *download) check() error {
	if d.file.Bytes != 0 && d.read != d.file.Bytes {
		return fmt.Errorf("%w: %d bytes, not %d", ErrFileMismatch, d.read, d.file.Bytes)
	}
	found := hex.EncodeToString(d.digest.Sum(nil))
	if d.file.SHA256 != "" && found != d.file.SHA256 {
		return fmt.Errorf("%w: SHA-256 %s, not %s", ErrFileMismatch, found, d.file.SHA256)
	}
	return io.EOF
}
