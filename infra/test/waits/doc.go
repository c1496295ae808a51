// Package waits tests every order of events in a pending export's life, in virtual time. Workers must claim the export
// neither too early nor too late, and two workers must never claim it at once
// (docs/adr/0046-when-a-task-can-be-claimed.md).
package waits
