package webhook

import "time"

// delays returns the wait before each attempt, counted from the one before: 75 h 35 min in all (decisions section 6).
func delays() [10]time.Duration {
	return [10]time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// jitter is how far a delay may be off, to either side, so that many failures do not come back at one moment.
const jitter = 0.2

// nextDelay returns the wait before attempt number next, spread by luck in [0, 1); ok is false after the last one.
func nextDelay(next int, luck float64) (wait time.Duration, ok bool) {
	all := delays()
	if next > len(all) {
		return 0, false
	}
	base := float64(all[next-1])
	return time.Duration(base * (1 - jitter + 2*jitter*luck)), true
}
