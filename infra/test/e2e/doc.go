// Package e2e runs complete journeys: the main job in this process in virtual time, with crashes after every outbound
// call. It contains only tests. Tests with real processes are in package process.
package e2e
