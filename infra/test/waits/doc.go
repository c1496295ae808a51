// Package waits has no code of its own: its tests put the events in a pending export's life into every order, in
// virtual time, and check that it is claimed neither too early, nor by two workers at once, nor too late
// (docs/adr/0046-when-a-task-can-be-claimed.md).
package waits
