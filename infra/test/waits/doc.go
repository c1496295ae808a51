// Package waits tests every order of events in a pending export's life, in virtual time. No worker may claim the export
// too early or too late, and no two workers may claim it at the same time
// (docs/adr/0046-when-a-task-can-be-claimed.md).
package waits
