package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func completionCommands() []command {
	return []command{{
		name: "completion", flags: "bash|zsh|fish", offline: true, operands: true, declare: printCompletion,
		help: "Prints a script that completes commands and flags in a shell",
	}}
}

func printCompletion(flags *flag.FlagSet) action {
	return func(_ context.Context, s session) (any, error) {
		shells := map[string]func(registry) string{
			"bash": registry.bash, "fish": registry.fish,
			"zsh": func(r registry) string { return "autoload -U +X bashcompinit && bashcompinit\n" + r.bash() },
		}
		script, ok := shells[strings.Join(flags.Args(), " ")]
		if !ok {
			return nil, misused("the shell must be bash, zsh or fish")
		}
		return nil, tell(s.out, script(commands()))
	}
}

// completions maps the words of an incomplete command line to the words that may follow. After a whole command, these
// are its flags.
func (r registry) completions() map[string][]string {
	next := map[string][]string{"": {"help"}}
	for _, c := range r {
		words := strings.Fields(c.name)
		for n, word := range words {
			if line := strings.Join(words[:n], " "); !slices.Contains(next[line], word) {
				next[line] = append(next[line], word)
			}
		}
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.declare(flags)
		c.common(flags, new(string), new(bool))
		flags.VisitAll(func(f *flag.Flag) { next[c.name] = append(next[c.name], "-"+f.Name) })
	}
	next["completion"] = []string{"bash", "zsh", "fish"}
	return next
}

func (r registry) bash() string {
	var cases strings.Builder
	next := r.completions()
	for _, line := range slices.Sorted(maps.Keys(next)) {
		fmt.Fprintf(&cases, "    %q) next=%q ;;\n", line, strings.Join(next[line], " "))
	}
	return `_ctl() {
  local line="" next="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    case "$word" in
    -stack | -outputs | -o) [[ -z "$line" ]] || break; ((i++)) ;;
    -*) break ;;
    *) line="${line:+$line }$word" ;;
    esac
  done
  case "$line" in
` + cases.String() + `  esac
  COMPREPLY=($(compgen -W "$next" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _ctl ctl`
}

func (r registry) fish() string {
	var lines strings.Builder
	next := r.completions()
	for _, line := range slices.Sorted(maps.Keys(next)) {
		fmt.Fprintf(&lines, "complete -c ctl -f -n 'test (__ctl_line) = \"%s\"' -a '%s'\n", line, strings.Join(next[line],
			" "))
	}
	return `function __ctl_line
  set -l line
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
    else if contains -- $word -stack -outputs -o; and test (count $line) = 0
      set skip 1
    else if string match -q -- '-*' $word
      break
    else
      set -a line $word
    end
  end
  echo "$line"
end
` + strings.TrimSuffix(lines.String(), "\n")
}
