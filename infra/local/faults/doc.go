// Package faults makes the embedded AWS crueller than AWS, on demand and repeatably: a Plan, made from a seed, decides
// which calls of our functions fail and how, which messages come twice or out of turn, how late indexes are and how
// far the clocks are apart; a Life ends an instance of a function after one of its calls; Points returns the calls
// after which a crash makes a difference.
//
// What a plan decides is a pure function of its seed and of which call it is (caller, service, operation, how many-th
// of them), never of the order in which goroutines happen to run. It owns no emulation: the real service answers
// every call that is let through, and whoever starts the cloud attaches the plan to it.
package faults
