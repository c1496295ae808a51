//go:build !race

package sandbox_test

const isRaced = false
