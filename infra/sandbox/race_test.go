//go:build race

package sandbox_test

// isRaced says that the race detector is watching, which makes large records twenty times as dear.
const isRaced = true
