package main

import (
	"bufio"
	"fmt"
	"regexp"
	"strings"
)

// confirm states a change that can't be undone or that affects patients at once, and asks whether to make it. -yes
// skips the question. If nobody can answer, confirm returns a usageError with the command line to repeat.
func (s session) confirm(change string, args ...any) error {
	if s.yes {
		return nil
	}
	change = plain(fmt.Sprintf(change, args...))
	if s.asks {
		fmt.Fprintf(s.said, "ctl: %s\nContinue? [y/N] ", change)
		answer, err := bufio.NewReader(s.input).ReadString('\n')
		if err == nil && strings.EqualFold(strings.TrimSpace(answer), "y") {
			return nil
		}
		if err == nil {
			return misused("nothing was changed")
		}
	}
	return misused("%s Nothing was changed, because no terminal can confirm it. To confirm, run: %s", change,
		s.repeated())
}

// bare matches words that a shell takes without quotation marks.
var bare = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// repeated returns the command line with -yes, quoted for a shell.
func (s session) repeated() string {
	words := []string{"ctl"}
	if s.at.stack != "" {
		words = append(words, "-stack", s.at.stack)
	}
	if s.at.outputs != "" {
		words = append(words, "-outputs", s.at.outputs)
	}
	words = append(append(words, s.line...), "-yes")
	for i, word := range words {
		if !bare.MatchString(word) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
