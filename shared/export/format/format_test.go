package format_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export/format"
)

// whole returns the position of a file's only part.
func whole() format.Part { return format.Part{First: true, Last: true} }

const base = "https://fhir.example.org/r4"

func TestGzipIsReproducibleAndReversible(t *testing.T) {
	t.Parallel()
	want := strings.Repeat(`{"resourceType":"Patient","id":"1"}`+"\n", 5000)
	var first, second bytes.Buffer
	expect.NoError(t, format.Gzip(&first, strings.NewReader(want)))
	expect.NoError(t, format.Gzip(&second, iotest.HalfReader(strings.NewReader(want))))
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same input gave other bytes")
	}
	in, err := gzip.NewReader(&first)
	expect.NoError(t, err)
	if in.Name != "" || !in.ModTime.IsZero() {
		t.Errorf("the header carries the name %q and the time %v", in.Name, in.ModTime)
	}
	got, err := io.ReadAll(in)
	expect.NoError(t, err)
	if string(got) != want {
		t.Error("other bytes came back")
	}
}

func TestBundleContainsEntryForEveryLine(t *testing.T) {
	t.Parallel()
	long := `{"resourceType":"Binary","data":"` + strings.Repeat("A", 200_000) + `","id":"late"}`
	exact := `{"resourceType":"Binary","id":"w","data":"` + strings.Repeat("A", 64<<10-44) + `"}`
	tests := []struct {
		name, lines, base, want string
	}{
		{
			"two resources", `{"resourceType":"Patient","id":"p1"}` + "\n" +
				`{"id":"o.1","status":"final","resourceType":"Observation"}` + "\n", base,
			`,"entry":[{"fullUrl":"https://fhir.example.org/r4/Patient/p1","resource":{"resourceType":"Patient","id":"p1"}},` +
				`{"fullUrl":"https://fhir.example.org/r4/Observation/o.1","resource":{"id":"o.1","status":"final",` +
				`"resourceType":"Observation"}}]`,
		},
		{
			"no line feed at the end", `{"resourceType":"Patient","id":"p1"}`, base + "/",
			`,"entry":[{"fullUrl":"https://fhir.example.org/r4/Patient/p1","resource":{"resourceType":"Patient","id":"p1"}}]`,
		},
		{
			"no base", `{"resourceType":"Patient","id":"p1"}` + "\n", "",
			`,"entry":[{"resource":{"resourceType":"Patient","id":"p1"}}]`,
		},
		{
			"no base, and ids that are UUIDs",
			`{"resourceType":"Patient","id":"1b4e28ba-2fa1-51d2-883f-0016d3cca427"}` + "\n", "",
			`,"entry":[{"fullUrl":"urn:uuid:1b4e28ba-2fa1-51d2-883f-0016d3cca427","resource":{"resourceType":"Patient",` +
				`"id":"1b4e28ba-2fa1-51d2-883f-0016d3cca427"}}]`,
		},
		{
			"ids that are not the resource's",
			`{"contained":[{"resourceType":"Group","id":"c"}],"meta":{"id":"m"},"resourceType":"List"}` + "\n", base,
			`,"entry":[{"resource":{"contained":[{"resourceType":"Group","id":"c"}],"meta":{"id":"m"},"resourceType":"List"}}]`,
		},
		{
			"an id after what is contained",
			`{"contained":[{"resourceType":"Group","id":"c"}],"resourceType":"List","id":"l"}` + "\n", base,
			`,"entry":[{"fullUrl":"https://fhir.example.org/r4/List/l","resource":{"contained":[{"resourceType":"Group",` +
				`"id":"c"}],"resourceType":"List","id":"l"}}]`,
		},
		{
			"no valid id", `{"resourceType":"Patient","id":"../x"}` + "\n" + `{"resourceType":"Patient","id":7}` + "\n", base,
			`,"entry":[{"resource":{"resourceType":"Patient","id":"../x"}},{"resource":{"resourceType":"Patient","id":7}}]`,
		},
		{"an id beyond the window", long + "\n", base, `,"entry":[{"resource":` + long + `}]`},
		{
			"a line of exactly the window, without a line feed", exact, base,
			`,"entry":[{"fullUrl":"https://fhir.example.org/r4/Binary/w","resource":` + exact + `}]`,
		},
		{
			"a line of exactly the window", exact + "\n", base,
			`,"entry":[{"fullUrl":"https://fhir.example.org/r4/Binary/w","resource":` + exact + `}]`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			expect.NoError(t, format.Bundle(&out, strings.NewReader(test.lines), test.base, whole()))
			if got, want := out.String(), `{"resourceType":"Bundle","type":"collection"`+test.want+`}`; got != want {
				t.Errorf("bundle = %.500s\nwant     %.500s", got, want)
			}
			if !json.Valid(out.Bytes()) {
				t.Error("the bundle is no JSON")
			}
		})
	}
	if len(exact) != 64<<10 {
		t.Errorf("the line has %d bytes, want the window's", len(exact))
	}
}

func TestConcatenatedPartsEqualSingleFile(t *testing.T) {
	t.Parallel()
	lines := make([]string, 7)
	for i := range lines {
		lines[i] = `{"resourceType":"Goal","id":"g` + strconv.Itoa(i) + `"}` + "\n"
	}
	all := strings.Join(lines, "")
	var bundle, packed bytes.Buffer
	expect.NoError(t, format.Bundle(&bundle, strings.NewReader(all), base, whole()))
	for cut := 1; cut < len(lines); cut++ {
		var inParts bytes.Buffer
		packed.Reset()
		for i, part := range []string{strings.Join(lines[:cut], ""), strings.Join(lines[cut:], "")} {
			expect.NoError(t, format.Bundle(&inParts, strings.NewReader(part), base, format.Part{First: i == 0, Last: i == 1}))
			expect.NoError(t, format.Gzip(&packed, strings.NewReader(part)))
		}
		if inParts.String() != bundle.String() {
			t.Errorf("cut at %d: %s\nwant %s", cut, inParts.String(), bundle.String())
		}
		in, err := gzip.NewReader(&packed)
		expect.NoError(t, err)
		unpacked, err := io.ReadAll(in)
		expect.NoError(t, err)
		if string(unpacked) != all {
			t.Errorf("cut at %d: unpacked %q, want %q", cut, unpacked, all)
		}
	}
}

func TestBundleRejectsNonObjectWithoutQuotingIt(t *testing.T) {
	t.Parallel()
	good := `{"resourceType":"Patient","id":"p1"}` + "\n"
	for name, lines := range map[string]string{
		"a string":           good + `"Alder"` + "\n",
		"an array":           `[{"name":"Alder"}]` + "\n",
		"an empty line":      good + "\n" + good,
		"a line cut off":     `{"name":"Alder` + "\n" + good,
		"a long one cut off": `{"name":"Alder ` + strings.Repeat("x", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := format.Bundle(io.Discard, strings.NewReader(lines), base, whole())
			if err == nil || strings.Contains(err.Error(), "Alder") {
				t.Errorf("Bundle = %v, want an error without content", err)
			}
		})
	}
}

// full is a writer that fails once room bytes have been written.
type full struct{ room int }

var errFull = errors.New("no room")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestFormatReturnsReadAndWriteErrors(t *testing.T) {
	t.Parallel()
	errRead := errors.New("connection reset")
	line := `{"resourceType":"Binary","id":"b","data":"` + strings.Repeat("QUJD", 50_000) + `"}` + "\n"
	forms := map[string]func(io.Writer, io.Reader) error{
		"gzip":   format.Gzip,
		"bundle": func(dst io.Writer, src io.Reader) error { return format.Bundle(dst, src, base, whole()) },
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, before := range []string{"", line, line[:100_000]} {
				src := io.MultiReader(strings.NewReader(before), iotest.ErrReader(errRead))
				if err := form(io.Discard, src); !errors.Is(err, errRead) {
					t.Errorf("reading fails after %d bytes: %v", len(before), err)
				}
			}
			for _, room := range []int{0, 10, 100} {
				if err := form(&full{room}, strings.NewReader(line)); !errors.Is(err, errFull) {
					t.Errorf("writing fails after %d bytes: %v", room, err)
				}
			}
		})
	}
}

// attachment is a line that contains 50 MB of data, generated as it is read.
type attachment struct {
	left int
	peak uint64 // peak live heap size
	head io.Reader
	tail io.Reader
}

func newAttachment() *attachment {
	return &attachment{
		left: 50_000_000, head: strings.NewReader(`{"resourceType":"Binary","id":"b","data":"`),
		tail: strings.NewReader("\"}\n"),
	}
}

func (a *attachment) Read(p []byte) (int, error) {
	if n, err := a.head.Read(p); n > 0 || err == nil {
		return n, err
	}
	if a.left == 0 {
		return a.tail.Read(p)
	}
	n := min(len(p), a.left)
	for i := range p[:n] {
		p[i] = 'A'
	}
	if before := a.left; before/10_000_000 != (before-n)/10_000_000 {
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		a.peak = max(a.peak, memory.HeapAlloc)
	}
	a.left -= n
	return n, nil
}

// Memory is measured for the whole process, so nothing else runs during the test.
func TestBundleAndGzipUseBoundedMemoryForLongLine(t *testing.T) {
	forms := map[string]func(io.Writer, io.Reader) error{
		"gzip":   format.Gzip,
		"bundle": func(dst io.Writer, src io.Reader) error { return format.Bundle(dst, src, base, whole()) },
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			line := newAttachment()
			expect.NoError(t, form(io.Discard, line))
			if most := uint64(16 << 20); line.left != 0 || line.peak == 0 || line.peak > most {
				t.Errorf("%d bytes left; %d bytes live, want at most %d", line.left, line.peak, most)
			}
		})
	}
}

func BenchmarkBundle(b *testing.B) {
	line := `{"resourceType":"Observation","id":"o1","meta":{"versionId":"1"},"valueString":"` +
		strings.Repeat("x", 900) + `"}` + "\n"
	lines := strings.Repeat(line, 1000)
	b.SetBytes(int64(len(lines)))
	b.ReportAllocs()
	for b.Loop() {
		if err := format.Bundle(io.Discard, strings.NewReader(lines), base, whole()); err != nil {
			b.Fatal(err)
		}
	}
}
