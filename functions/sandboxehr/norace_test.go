//go:build !race

package sandboxehr_test

const isRaced = false
