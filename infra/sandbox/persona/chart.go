package persona

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// errOverfull means that a record's mandatory sections alone exceed the size in the persona's spec.
var errOverfull = errors.New("the record does not fit its size")

// chart is a record under construction, built section by section. A section that would exceed the requested size is
// dropped entirely, so that no references dangle.
type chart struct {
	spec   spec
	out    []Resource
	serial map[string]int  // highest ID number assigned so far, by resource type
	shared map[string]bool // shared resources already in the chart, by Type/id
	visits int

	// References that later sections use. A reference is empty if the section that creates its target was dropped.
	encounter, condition, coverage, medication string

	err error
}

// generate builds the record: the sections common to all personas, then visits, and finally single readings until the
// record has exactly the requested size.
func (s spec) generate() ([]Resource, error) {
	c := &chart{spec: s, serial: map[string]int{}, shared: map[string]bool{}}
	if !c.try(identity) || !c.try(intake) {
		return nil, fmt.Errorf("persona %s: %w", s.id, errOverfull)
	}
	if s.unusual && !c.try(unusual) {
		return nil, fmt.Errorf("persona %s: %w", s.id, errOverfull)
	}
	sections := []func(*chart){
		vaccination, insurance, allergies, medications, notes, background, careCoordination, devices,
	}
	for _, section := range sections {
		c.try(section)
	}
	for c.try(visit) {
		continue
	}
	for c.try(homeReading) {
		continue
	}
	if c.err != nil {
		return nil, fmt.Errorf("persona %s: %w", s.id, c.err)
	}

	return patientFirst(c.out)
}

// try adds a section to the chart and reports whether the section was added. If the section does not fit or an error
// occurs, the chart's resources stay unchanged.
func (c *chart) try(section func(*chart)) bool {
	draft := *c
	draft.out = slices.Clip(c.out)
	draft.serial = maps.Clone(c.serial)
	draft.shared = maps.Clone(c.shared)
	section(&draft)
	if draft.err != nil {
		c.err = draft.err

		return false
	}
	if len(draft.out) > c.spec.size {
		return false
	}
	*c = draft

	return true
}

// add adds a resource with the next ID for its type and returns a reference to it.
func (c *chart) add(resourceType string, body object) string {
	c.serial[resourceType]++
	id := fmt.Sprintf("%s-%s-%04d", c.spec.id, strings.ToLower(resourceType), c.serial[resourceType])

	return c.put(resourceType, id, body)
}

// once adds a shared resource unless the chart already contains it, and returns a reference to it.
func (c *chart) once(resourceType, id string, body object) string {
	key := resourceType + "/" + id
	if c.shared[key] {
		return key
	}
	c.shared[key] = true

	return c.put(resourceType, id, body)
}

func (c *chart) put(resourceType, id string, body object) string {
	body["resourceType"] = resourceType
	body["id"] = id
	if resourceType != "Binary" {
		body["meta"] = object{"versionId": "1", "lastUpdated": "2026-03-01T06:00:00Z"}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		c.err = fmt.Errorf("%s/%s: %w", resourceType, id, err)
	}
	c.out = append(c.out, Resource{Type: resourceType, ID: id, Body: raw})

	return resourceType + "/" + id
}

// roll returns a pseudorandom number below n that depends only on the persona, the label and the serial number. All
// randomness comes from roll, because an additional draw from a seeded math/rand would change every later value.
func (c *chart) roll(label string, serial, n int) int {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", c.spec.id, label, serial))

	return int(binary.BigEndian.Uint32(sum[:4])>>1) % n
}

func (c *chart) patient() object { return reference("Patient/" + c.spec.patientID()) }

// at returns the time that is the given number of minutes after visit n starts.
func (c *chart) at(n, minutes int) time.Time {
	first, err := time.Parse(time.DateOnly, c.spec.firstVisit)
	if err != nil {
		c.err = fmt.Errorf("first visit of %s: %w", c.spec.id, err)
	}
	morning := 13*time.Hour + time.Duration(c.roll("hour", n, 7))*time.Hour

	return first.Add(time.Duration(n)*c.spec.visitEvery + morning + time.Duration(minutes)*time.Minute)
}
