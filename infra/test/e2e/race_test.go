//go:build race

package e2e_test

// isRaced says that the race detector is watching: it makes copying megabytes through all layers twenty times as dear.
const isRaced = true
