package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestBashCompletionOffersCommandsAndFlags(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	if err := run(t.Context(), []string{"completion", "bash"}, to(&script)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line string // ends with the word to complete
		want []string
	}{
		{"ctl catal", []string{"catalog"}},
		{"ctl -stack live -o json catalog so", []string{"source"}},
		{"ctl catalog source ", []string{"set", "list", "remove"}},
		{"ctl credential revoke -a", []string{"-all", "-allow-none"}},
		{"ctl webhook show -id 1 -s", []string{"-secrets"}},
		{"ctl doctor -", []string{"-o"}},
		{"ctl completion ", []string{"bash", "zsh", "fish"}},
		{"ctl nothing ", nil},
	} {
		words := strings.Split(test.line, " ")
		command := script.String() + "\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); _ctl; printf '%s\\n' \"${COMPREPLY[@]}\""
		out, err := exec.CommandContext(t.Context(), "bash", append([]string{"-c", command, "bash"}, words...)...).Output()
		if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %q (%v), want %q", test.line, got, err, test.want)
		}
	}
}

func TestCompletionScriptsListEveryCommand(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		var script strings.Builder
		if err := run(t.Context(), []string{"completion", shell}, to(&script)); err != nil {
			t.Fatal(err)
		}
		for _, c := range commands() {
			if !strings.Contains(script.String(), `"`+c.name+`"`) {
				t.Errorf("%s does not complete the flags of %s", shell, c.name)
			}
		}
	}
	if err := run(t.Context(), []string{"completion", "tcsh"}, to(&strings.Builder{})); exitCode(err) != 2 {
		t.Errorf("another shell: %v", err)
	}
}
