// Package waits contains only tests. They try the events in a pending export's life in every order, in virtual time,
// and check that it is claimed neither too early, nor by two workers at once, nor too late
// (docs/adr/0046-when-a-task-can-be-claimed.md).
package waits
