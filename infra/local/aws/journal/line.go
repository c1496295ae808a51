package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

// A line is {"seq":7,"service":"sqs","record":{…},"crc32":"0a1b2c3d"}. The checksum covers every byte before it, so
// that no byte of a line can change unseen; the number shows lines that are missing or there twice.
const (
	format = 2
	header = `{"journal":"recordbridge embedded AWS","format":2}` + "\n"

	beforeNumber  = `{"seq":`
	beforeService = `,"service":"`
	beforeRecord  = `","record":`
	beforeSum     = `,"crc32":"`
	lineEnd       = `"}` + "\n"
	tailLength    = len(beforeSum) + 8 + len(lineEnd)
)

// ownService marks the lines that are the journal's own and no service's. There is one kind: the end of the lines that
// a compaction wrote.
const ownService = "journal"

var (
	errNoLine   = errors.New("it is no line of a journal")
	errChecksum = errors.New("its checksum does not match, so some of its bytes are not those that were written")
	errLineEnd  = errors.New("its line end was overwritten")
	errNoHeader = fmt.Errorf("the header is missing, so this is no journal of format %d; earlier versions wrote none", format)
)

// line is one line that was read.
type line struct {
	number  uint64
	service string
	record  json.RawMessage
}

// appendLine appends a line to to. The name of a service needs no escapes in JSON.
func appendLine(to []byte, number uint64, service string, record []byte) []byte {
	start := len(to)
	to = append(to, beforeNumber...)
	to = strconv.AppendUint(to, number, 10)
	to = append(to, beforeService...)
	to = append(to, service...)
	to = append(to, beforeRecord...)
	to = append(to, record...)
	return appendTail(to, to[start:])
}

func appendTail(to, summed []byte) []byte {
	to = append(to, beforeSum...)
	sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(summed)), 16)
	to = append(to, "00000000"[len(sum):]...)
	to = append(to, sum...)
	return append(to, lineEnd...)
}

// parseLine reads a line with its line end.
func parseLine(encoded []byte) (line, error) {
	cut := len(encoded) - tailLength
	if cut < 0 || !bytes.HasPrefix(encoded[cut:], []byte(beforeSum)) || !bytes.HasSuffix(encoded, []byte(lineEnd)) {
		return line{}, errNoLine
	}
	summed := encoded[:cut]
	if !bytes.Equal(encoded[cut:], appendTail(nil, summed)) {
		return line{}, errChecksum
	}
	rest, isLine := bytes.CutPrefix(summed, []byte(beforeNumber))
	digits, rest, hasService := bytes.Cut(rest, []byte(beforeService))
	service, record, hasRecord := bytes.Cut(rest, []byte(beforeRecord))
	number, err := strconv.ParseUint(string(digits), 10, 64)
	if !isLine || !hasService || !hasRecord || err != nil {
		return line{}, errNoLine
	}
	return line{number: number, service: string(service), record: record}, nil
}

// checkHeader reads the first line with its line end.
func checkHeader(encoded []byte) error {
	if string(encoded) == header {
		return nil
	}
	var other struct {
		Journal string
		Format  int
	}
	if json.Unmarshal(encoded, &other) == nil && other.Journal != "" && other.Format != format {
		return fmt.Errorf("it was written in format %d, and this program reads format %d", other.Format, format)
	}
	return errNoHeader
}

// checkTorn accepts what a kill in the middle of a write can leave of a line, which is any part of its beginning.
func checkTorn(encoded []byte, isHeader bool) error {
	if isHeader {
		if !bytes.HasPrefix([]byte(header), encoded) {
			return errNoHeader
		}
		return nil
	}
	if whole := len(encoded) - 1; whole > 0 {
		if _, err := parseLine(append(bytes.Clone(encoded[:whole]), '\n')); err == nil {
			return errLineEnd
		}
	}
	return nil
}
