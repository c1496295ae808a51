//go:build !race

package rounds_test

const isRaced = false
