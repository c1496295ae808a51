package export

import (
	"slices"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// fixtures returns the names of the synthetic documents that test-mode TEFCA connections can use as cached records.
func fixtures() []string { return []string{"alder.xml", "birch.xml"} }

// ParseFixture validates a request's fixture name (fixtures.tefca_ccda) for a credential's mode. Errors are
// fault.Invalid and never repeat the input. Register verifies that the connection is a TEFCA connection.
func ParseFixture(mode org.Mode, name string) (string, error) {
	switch {
	case mode != org.Test:
		return "", noFixture()
	case !slices.Contains(fixtures(), name):
		return "", fault.BadRequest("fixtures.tefca_ccda must be alder.xml or birch.xml.").About("fixtures")
	}
	return name, nil
}

func noFixture() error {
	return fault.BadRequest("fixtures is allowed only for TEFCA connections in test mode.").About("fixtures")
}
