// Package ccdatest judges the conversion of C-CDA documents from outside: it reads the XML by itself, in the
// standard library's way and with tables of its own, and asks of what the documents tell whether the resources tell
// it, too. What of it is lost is counted by kind: codes, times, statuses, authors, performers, values with their
// units, reference ranges.
//
// It has tests only. How a rule converts what, and that the converter's parts do their own work, is the business of the
// converter's tests; whether resources are valid, that of .ci/ccda.
package ccdatest
