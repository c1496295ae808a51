package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine is the size of the longest line. It bounds the memory of tables.
const maxLine = 64 << 20

// eachLine calls yield with each line of a file, which may be compressed with gzip. long reports that a line
// has more than limit bytes; eachLine skips it. yield may keep the line only until it returns.
func eachLine(path string, limit int, yield func(number int, line []byte, long bool) error) error {
	file, err := os.Open(path) //nolint:gosec // the file that the user names
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	text, err := unpacked(bufio.NewReader(file))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	reader := bufio.NewReaderSize(text, 1<<16)
	var line []byte
	for number := 1; ; number++ {
		var long bool
		line, long, err = readLine(reader, line[:0], limit)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if len(line) > 0 || long {
			if stop := yield(number, line, long); stop != nil {
				return stop
			}
		}
		if end {
			return nil
		}
	}
}

// readLine reads a line without its end into buffer. It skips the rest of a line that is longer than limit.
func readLine(reader *bufio.Reader, buffer []byte, limit int) (line []byte, long bool, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		if long = long || len(buffer)+len(part) > limit; !long {
			buffer = append(buffer, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		for len(buffer) > 0 && (buffer[len(buffer)-1] == '\n' || buffer[len(buffer)-1] == '\r') {
			buffer = buffer[:len(buffer)-1]
		}
		return buffer, long, err
	}
}

// unpacked returns r's text, which may be in gzip format.
func unpacked(r *bufio.Reader) (io.Reader, error) {
	if start, err := r.Peek(2); err != nil || start[0] != 0x1f || start[1] != 0x8b {
		return r, nil //nolint:nilerr // A file without two bytes is not in gzip format.
	}
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("unpack the record: %w", err)
	}
	return unzipped, nil
}
