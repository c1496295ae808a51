//go:build race

package rounds_test

// isRaced says that the race detector is watching: it makes a simulated day of a whole country twenty times as dear.
const isRaced = true
