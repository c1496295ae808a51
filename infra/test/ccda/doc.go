// Package ccdatest checks the conversion of C-CDA documents independently of the converter. It parses the XML with the
// standard library and its own tables, lists the facts in each document, and checks that the converted resources
// contain them. Missing facts are counted by kind: codes, times, statuses, authors, performers, values with their
// units, reference ranges.
//
// It contains only tests. The converter's own tests cover its rules and parts; .ci/ccda checks that the resources are
// valid.
package ccdatest
