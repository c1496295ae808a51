package s3

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	// maxChunkLine bounds the size lines and trailer lines of the aws-chunked encoding.
	maxChunkLine = 1024
	minChunk     = 8 << 10 // bytes of every chunk but the last
)

var errChunks = errors.New("the aws-chunked body is malformed")

// chunkReader decodes a body in the aws-chunked encoding: chunks as in HTTP/1.1, but inside the body that HTTP sees,
// closed by trailers that carry a checksum. Rule: "Signature calculations: transferring payload in multiple chunks"
// in the S3 API reference, in its form without chunk signatures.
type chunkReader struct {
	src     *bufio.Reader
	left    int64 // of the current chunk
	small   bool  // the current chunk may only be the last
	trailer http.Header
	done    bool
}

func newChunkReader(src io.Reader) *chunkReader {
	return &chunkReader{src: bufio.NewReader(src), trailer: http.Header{}}
}

// Read implements io.Reader; at io.EOF the trailer is complete.
func (c *chunkReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, err := c.src.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if errors.Is(err, io.EOF) {
		return n, errChunks // the last chunk is still to come
	}
	if c.left == 0 && err == nil {
		if ending, endErr := c.line(); endErr != nil || ending != "" {
			return n, errChunks
		}
	}
	return n, err
}

// next reads a chunk's size line and, after the last chunk, the trailers.
func (c *chunkReader) next() error {
	if c.done {
		return io.EOF
	}
	line, err := c.line()
	if err != nil {
		return err
	}
	size, err := strconv.ParseUint(line, 16, 62)
	if err != nil {
		return errChunks
	}
	c.left = int64(size)
	if c.left > 0 {
		if c.small {
			return refuse("InvalidChunkSizeError", "only the last chunk is allowed to have a size less than %d bytes", minChunk)
		}
		c.small = c.left < minChunk
		return nil
	}
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		if line == "" {
			c.done = true
			return io.EOF
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || len(c.trailer) > 8 {
			return errChunks
		}
		c.trailer.Set(name, strings.TrimSpace(value))
	}
}

// line reads up to CRLF.
func (c *chunkReader) line() (string, error) {
	var line []byte
	for len(line) < maxChunkLine {
		b, err := c.src.ReadByte()
		if err != nil {
			return "", errChunks
		}
		line = append(line, b)
		if text, ended := bytes.CutSuffix(line, []byte("\r\n")); ended {
			return string(text), nil
		}
	}
	return "", errChunks
}
