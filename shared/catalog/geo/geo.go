// Package geo owns what is known of places in the United States without asking anybody: the state of a ZIP code, the
// names of states, and roughly how far two ZIP codes are from each other (docs/adr/0027-names-and-duplicates.md). It
// knows no towns: those come from lists.
package geo

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
)

// prefixes has a line for each of the thousand first three digits of ZIP codes: the digits, the state, and the latitude
// and longitude of about the middle of the area in degrees. Lines of one width are found without reading the others. It
// is a table of this project's own, by areas of the postal service; prefixes that are not in use, and those of the
// military, have no state.
//
//go:embed prefixes.txt
var prefixes string

const (
	lineWidth = 20 // the last character of each ends it
	noState   = "--"

	earthRadius = 6371 // km
	// What two ZIP codes are taken to be apart, in km, that differ in their last digit only, and that
	// differ in their last two.
	sameFour   = 6.0
	samePrefix = 20.0
)

// ZIP is the five digits of a ZIP code, which may have four more ("01234-5678", "012345678"); ok is
// false for anything else.
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

// State is the code of the state, district or territory that a ZIP code is in; empty where that is not known.
func State(zip string) string {
	_, area, _ := find(zip)
	return area.state
}

// Distance is about how far two ZIP codes are from each other, in km: from the middle of one area of the first three
// digits to that of the other. Half of all ZIP codes are less than 30 km from that middle, nine of ten less than 75 km.
// ok is false when one of them is not known.
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
	return max(samePrefix, from.to(to)), true // areas of one city have nearly the same middle
}

// area is that of the ZIP codes with the same first three digits.
type area struct {
	state               string
	latitude, longitude float64 // degrees
}

// find reads the line of a ZIP code's area.
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

// to is the distance on a great circle in km.
func (a area) to(b area) float64 {
	const degree = math.Pi / 180
	half := func(x, y float64) float64 { s := math.Sin((y - x) * degree / 2); return s * s }
	h := half(a.latitude, b.latitude) +
		math.Cos(a.latitude*degree)*math.Cos(b.latitude*degree)*half(a.longitude, b.longitude)
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}
