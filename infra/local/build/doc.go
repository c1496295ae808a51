// Package build makes the bootstrap binaries of the functions for this machine, and only those whose inputs have
// changed since. It owns nothing about deployment: `sam build` makes the arm64 binaries from the Makefile, with the
// same flags.
package build
