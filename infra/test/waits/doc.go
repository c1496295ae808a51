// Package waits contains only tests. The tests run the events in a pending export's life in every order, in virtual
// time. They check that workers claim the export neither too early nor too late, and that two workers never claim it at
// once (docs/adr/0046-when-a-task-can-be-claimed.md).
package waits
