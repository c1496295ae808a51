// Package waits contains only tests. The tests run the events in a pending export's life in every order, in virtual
// time. Workers must claim the export neither too early nor too late, and two workers must never claim the export at
// once (docs/adr/0046-when-a-task-can-be-claimed.md).
package waits
