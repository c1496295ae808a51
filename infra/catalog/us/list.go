// Package us generates a synthetic list of US institutions. The list is as large and inconsistent as all the vendor
// lists published in the United States combined. Each vendor and server accounts for the same share of rows as in the
// published lists. The shares of duplicate rows, of rows with a ZIP code, and of names that are in capitals or contain
// a legal form, degree or state are also the same. All data is invented: proper names, towns and customer numbers are
// built from syllables, and server names end in us.example (RFC 2606). Only the health care vocabulary and the first
// three digits of ZIP codes are real. The list is the same on every run.
package us

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"recordbridge/shared/catalog/geo"
)

// ID, name and licence of the list as a catalogue source.
const (
	Source  = "us-synthetic"
	Name    = "Synthetic: a made-up list the size of the United States"
	License = "Synthetic: contains no real institution, person or address. Apache-2.0, like the whole repository"
)

// List generates the list in the lantern-ndjson format, producing rows as they are read.
type List struct {
	random  *rand.Rand
	invent  inventor
	vendors []vendor
	made    int           // number of rows generated for vendors[0] so far
	copied  []institution // institutions that the collector copied from other vendors
	unread  bytes.Buffer
}

// NewList returns a List positioned at its first row.
func NewList() *List {
	random := rand.New(rand.NewPCG(2026, 47_650)) //nolint:gosec // G404: chance that can be had again, and no secret
	return &List{random: random, invent: newInventor(random), vendors: vendors()}
}

// Read implements io.Reader.
func (l *List) Read(into []byte) (int, error) {
	for l.unread.Len() < len(into) && len(l.vendors) > 0 {
		v := l.vendors[0]
		if l.made >= v.rows {
			l.vendors, l.made = l.vendors[1:], 0
			continue
		}
		for _, row := range l.rows(v, l.next(v)) {
			line, err := json.Marshal(row)
			if err != nil {
				return 0, fmt.Errorf("write row: %w", err)
			}
			l.unread.Write(append(line, '\n'))
			l.made++
		}
	}
	if l.unread.Len() == 0 {
		return 0, io.EOF
	}
	return l.unread.Read(into)
}

// institution is a fictional institution. Several vendors may list the same institution.
type institution struct {
	name, town, state, zip, number, host string
}

type row struct {
	List string `json:"list"`
	Name string `json:"name"`
	URL  string `json:"url"`
	NPI  string `json:"npi"`
	ZIP  string `json:"zip"`
}

// next returns the institution for the vendor's next row. The institution is new unless v is the collector, which may
// copy another vendor's institution.
func (l *List) next(v vendor) institution {
	if v.copies > 0 && len(l.copied) > 0 && l.chance(v.copies) {
		at, last := l.random.IntN(len(l.copied)), len(l.copied)-1
		i := l.copied[at]
		l.copied[at], l.copied = l.copied[last], l.copied[:last]
		i.name = l.invent.otherwise(i.name)
		return i
	}
	i := institution{name: l.invent.name(), town: l.invent.town(), number: l.number()}
	i.state, i.zip = l.place()
	i.host = strings.ToLower(strings.Fields(i.town)[0]) + "-" + strings.ToLower(i.number[:4])
	if l.chance(v.legal) {
		i.name += l.invent.form()
	}
	if l.chance(v.capitals) {
		i.name = strings.ToUpper(i.name)
	}
	if v.isCopied {
		l.copied = append(l.copied, i)
	}
	return i
}

// rows returns a vendor's rows for an institution, one per base URL.
func (l *List) rows(v vendor, i institution) []row {
	r := row{List: v.label, Name: i.name}
	switch {
	case l.chance(v.stateFirst):
		r.Name = i.state + " - " + i.name
	case l.chance(v.townLast):
		r.Name += " " + strings.ToUpper(i.town) + " " + i.state
	case l.chance(v.noise):
		r.Name += " " + l.invent.pick("noise")
	}
	if l.chance(v.zip) {
		r.ZIP = i.zip
	}
	if l.chance(v.npi) {
		r.NPI = fmt.Sprintf("%010d", l.random.IntN(1_000_000_000)) // issued NPIs never begin with 0
	}
	rows := make([]row, len(v.bases))
	for at, base := range v.bases {
		rows[at] = r
		rows[at].URL = "https://" + strings.NewReplacer("#", i.number, "@", i.host).Replace(base)
	}
	return rows
}

func (l *List) place() (state, zip string) {
	for state == "" {
		zip = fmt.Sprintf("%05d", l.random.IntN(100_000))
		state = geo.State(zip)
	}
	return state, zip
}

func (l *List) number() string {
	const digits = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"
	text := make([]byte, 14)
	for i := range text {
		text[i] = digits[l.random.IntN(len(digits))]
	}
	return string(text)
}

func (l *List) chance(share float64) bool { return l.random.Float64() < share }
