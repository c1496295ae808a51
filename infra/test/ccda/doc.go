// Package ccdatest tests the conversion of C-CDA documents independently of the converter. It parses the XML with the
// standard library and its own tables, lists each document's facts, and checks that the converted resources contain
// them. The tests count missing facts by kind: codes, times, statuses, authors, performers, values with units, and
// reference ranges.
//
// The package contains only tests. The converter's unit tests are in its own package. The script .ci/ccda validates the
// resources.
package ccdatest
