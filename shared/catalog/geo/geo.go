// Package geo provides offline geographic data about the United States. The data includes each ZIP code's state, the
// names of states, and the approximate distance between two ZIP codes (docs/adr/0027-names-and-duplicates.md). Towns
// are not included because published lists provide them.
package geo

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
)

// prefixes has one line per three-digit ZIP code prefix. Each line contains the digits, the state, and the latitude and
// longitude of the area's approximate centre in degrees. All lines have the same width, so that a lookup can jump
// directly to a line. The table was created for this project, based on the postal service's areas. Unused and military
// prefixes don't have a state.
//
//go:embed prefixes.txt
var prefixes string

const (
	lineWidth = 20 // in bytes, including the line break
	noState   = "--"

	earthRadius = 6371 // in kilometres
	// Assumed distances, in kilometres, between ZIP codes that share their first four or first three digits.
	sameFour   = 6.0
	samePrefix = 20.0
)

// ZIP returns the five-digit part of a ZIP code or ZIP+4 code ("01234-5678", "012345678"). ok is false for any other
// text.
func ZIP(text string) (zip string, ok bool) {
	zip = strings.TrimSpace(text)
	if len(zip) == 10 && zip[5] == '-' {
		zip = zip[:5] + zip[6:]
	}
	isOther := func(c rune) bool { return c < '0' || c > '9' }
	if len(zip) != 5 && len(zip) != 9 || strings.ContainsFunc(zip, isOther) {
		return "", false
	}
	return zip[:5], true
}

// State returns the code of the state, district or territory that contains a ZIP code, or "" if the ZIP code is
// unknown.
func State(zip string) string {
	_, area, _ := find(zip)
	return area.state
}

// Distance returns the approximate distance in kilometres between two ZIP codes, measured between the centres of the
// areas given by their first three digits. Half of all ZIP codes are less than 30 km from their area's centre, and nine
// out of ten are less than 75 km away. ok is false if either ZIP code is unknown.
func Distance(a, b string) (km float64, ok bool) {
	a, from, okFrom := find(a)
	b, to, okTo := find(b)
	switch {
	case !okFrom || !okTo:
		return 0, false
	case a == b:
		return 0, true
	case a[:4] == b[:4]:
		return sameFour, true
	}
	return max(samePrefix, from.to(to)), true // areas in the same city have nearly the same centre
}

// Nearest returns the approximate distance in kilometres from a ZIP code to the nearest one in others. ok is false if
// zip is unknown, or if every ZIP code in others is unknown.
func Nearest(others []string, zip string) (km float64, ok bool) {
	for _, other := range others {
		if away, isKnown := Distance(other, zip); isKnown && (!ok || away < km) {
			km, ok = away, true
		}
	}
	return km, ok
}

// area covers all ZIP codes that share a three-digit prefix.
type area struct {
	state               string
	latitude, longitude float64 // in degrees
}

func find(text string) (zip string, found area, ok bool) {
	zip, ok = ZIP(text)
	if !ok {
		return "", area{}, false
	}
	number := int(zip[0]-'0')*100 + int(zip[1]-'0')*10 + int(zip[2]-'0')
	line := prefixes[number*lineWidth : (number+1)*lineWidth-1]
	state := line[4:6]
	if state == noState {
		return zip, area{}, false
	}
	latitude, errLatitude := strconv.ParseFloat(line[7:12], 64)
	longitude, errLongitude := strconv.ParseFloat(line[13:], 64)
	return zip, area{state, latitude, longitude}, errLatitude == nil && errLongitude == nil
}

// to returns the great-circle distance to b in kilometres.
func (a area) to(b area) float64 {
	const degree = math.Pi / 180
	half := func(x, y float64) float64 { s := math.Sin((y - x) * degree / 2); return s * s }
	h := half(a.latitude, b.latitude) +
		math.Cos(a.latitude*degree)*math.Cos(b.latitude*degree)*half(a.longitude, b.longitude)
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}
