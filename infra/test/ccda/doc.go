// Package ccdatest checks the conversion of C-CDA documents independently of the converter. The package parses the XML
// with the standard library and its own tables, lists each document's facts, and checks that the converted resources
// contain these facts. The tests count missing facts by kind: codes, times, statuses, authors, performers, values with
// units, and reference ranges.
//
// The package contains only tests. The converter's own tests cover its rules and parts. .ci/ccda checks that the
// resources are valid.
package ccdatest
