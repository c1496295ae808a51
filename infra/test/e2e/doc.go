// Package e2e performs whole journeys: the main job in this process under virtual time, with crashes after every
// call to the world outside, and with real processes that are killed. It has tests only.
package e2e
