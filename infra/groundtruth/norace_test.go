//go:build !race

package groundtruth_test

const isRaced = false
