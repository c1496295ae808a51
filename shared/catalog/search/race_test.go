//go:build race

package search_test

// underRace: the detector makes everything several times as slow, and what takes long shares nothing.
const underRace = true
