// Package exporttest holds the export engine against servers whose content is known: the file of an export has to be
// what the server holds, every resource once, and what is not in the file has to be named in the task's outcome. The
// sandbox EHR, the SMART reader and the engine are the real ones; what the engine stores is kept in memory, requests
// use no socket, and time is virtual, so that an export with waits, retries and hand-overs takes milliseconds.
//
// It has tests only. Functions, queues and tables around the engine are the business of package e2e.
package exporttest
