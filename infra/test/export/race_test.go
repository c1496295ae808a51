//go:build race

package exporttest_test

// isRaced says that the race detector is watching, which makes large records twenty times as dear.
const isRaced = true
