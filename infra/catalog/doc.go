// Package catalog owns what is shipped of institutions: which lists a fresh stack begins with (sandbox.yaml,
// vendors.yaml, and with package us a list of the size of the United States'), and folders for operators, the published
// lists that are known (sources.yaml), of which none is fetched before an operator has made a source of it, and an
// example of one that is kept by hand.
package catalog
