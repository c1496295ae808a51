// Command demo performs the main job against a running stack, or, when it is asked to, against one that it starts for
// itself: it connects a synthetic patient, asks for the export, waits for the webhook, verifies its signature with the
// official library and downloads the file. It says which stack that was, and fails when it is not the one that was
// named. It uses nothing but the public API and .local/run.json, as a customer's program would.
package main
