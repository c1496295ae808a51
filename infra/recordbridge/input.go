package main

import (
	"bufio"
	"bytes"
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
	defer file.Close()
	reader := bufio.NewReaderSize(file, 1<<16)
	if magic, _ := reader.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		uncompressed, problem := gzip.NewReader(reader)
		if problem != nil {
			return fmt.Errorf("%s: %w", path, problem)
		}
		reader = bufio.NewReaderSize(uncompressed, 1<<16)
	}
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
