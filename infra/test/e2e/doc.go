// Package e2e performs whole journeys: the main job in this process under virtual time, with crashes after every
// call to the world outside. It has tests only; those with real processes are in package process.
package e2e
