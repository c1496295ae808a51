//go:build !race

package exporttest_test

const isRaced = false
