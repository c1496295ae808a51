// Package exporttest tests the export engine against servers with known content. An export's file must contain every
// resource on the server exactly once, and the task's outcome must report any missing resources. The sandbox EHR, the
// SMART reader and the engine are the production code. The engine's storage is in memory, requests use no sockets, and
// time is virtual. As a result, an export that includes waits, retries and hand-overs takes only milliseconds.
//
// The package contains only tests. Package e2e covers the functions, queues and tables around the engine.
package exporttest
