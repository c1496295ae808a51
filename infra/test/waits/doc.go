// Package waits contains only tests. The tests run the events in a pending export's life in every order, in virtual
// time. They check that no worker claims the export too early or too late, and that no two workers claim it at once
// (docs/adr/0046-when-a-task-can-be-claimed.md).
package waits
