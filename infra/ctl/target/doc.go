// Package target finds a stack that runs somewhere, and the way in: on AWS by its name, or by a file with its outputs,
// which .local/run.json is, too. It owns what is said when neither leads to one. The operator's command line and the
// checks of running stacks use it; no Lambda links it.
package target
