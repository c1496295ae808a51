package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// command is a ctl command. The help text is generated from these fields. docs/operate/ctl.md also documents each
// command's effects and warnings.
type command struct {
	name     string   // one to three words, separated by spaces
	flags    string   // flags as displayed in the help, one form per line
	help     string   // one-line description
	needs    []string // required flags
	offline  bool     // true if the command runs without a stack or opens one itself (session.open)
	operands bool     // true if the command accepts operands, such as files, after its flags
	confirms bool     // true if the command may ask for confirmation, which -yes gives
	declare  func(flags *flag.FlagSet) action
}

// action runs a command after its flags have been parsed, and returns the result to print. The result is nil if the
// action has already printed its output.
type action func(ctx context.Context, s session) (any, error)

// synopsis returns the command's syntax, with one line per form.
func (c command) synopsis() string {
	yes := ""
	if c.confirms {
		yes = " [-yes]"
	}
	return strings.TrimSpace(c.name+" "+strings.ReplaceAll(c.flags, "\n", yes+"\n"+c.name+" ")) + yes
}

// common adds the flags that the command shares with other commands.
func (c command) common(flags *flag.FlagSet, format *string, yes *bool) {
	formatFlag(flags, format)
	if c.confirms {
		flags.BoolVar(yes, "yes", false, "don't ask for confirmation")
	}
}

func (c command) usage() string {
	var text strings.Builder
	fmt.Fprintf(&text, "usage: ctl %s\n\n%s.", strings.ReplaceAll(c.synopsis(), "\n", "\n       ctl "), c.help)
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.declare(flags)
	c.common(flags, new(string), new(bool))
	flags.SetOutput(&text)
	text.WriteString("\n\n")
	flags.PrintDefaults()
	return strings.TrimRight(text.String(), "\n")
}

// registry holds every command, in help order.
type registry []command

func commands() registry {
	return slices.Concat(
		organisationCommands(), liveAccessCommands(), credentialCommands(), webhookCommands(),
		deliveryCommands(), endpointCommands(),
		platformCommands(), clientCommands(), registrationCommands(), keyCommands(),
		catalogCommands(), catalogHealthCommands(), connectionCommands(), exportCommands(), inquiryCommands(),
		restoreCommands(), auditCommands(),
		preflightCommands(), doctorCommands(), resealCommands(), redriveCommands(), explainCommands(), ccdaCommands(),
		completionCommands(),
	)
}

// find returns the command whose name consists of words, or a usageError if no command matches.
func (r registry) find(words []string) (command, error) {
	if len(words) == 0 {
		return command{}, misused("a command is required\n%s", r.overview())
	}
	group := r.group(words[0])
	if len(group) == 0 {
		return command{}, misused("unknown command %q%s; to list all commands, run ctl "+
			"help", words[0], likely(words[0], r.words(0)))
	}
	if group[0].name == words[0] {
		return group[0], nil
	}
	if len(words) == 1 {
		return command{}, misused("%s needs a subcommand\n%s", words[0], group.listing())
	}
	for n := min(len(words), mostWords); n > 1; n-- {
		name := strings.Join(words[:n], " ")
		if i := slices.IndexFunc(group, func(c command) bool { return c.name == name }); i >= 0 {
			return group[i], nil
		}
	}
	if err := movedTo(words); err != nil {
		return command{}, err
	}
	if below := group.below(words[0] + " " + words[1]); len(below) > 0 {
		return command{}, misused("%s needs a subcommand\n%s", words[0]+" "+words[1], below.listing())
	}
	return command{}, misused("unknown command %q%s; to list its subcommands, run ctl help %s", words[0]+" "+words[1],
		likely(words[1], group.words(1)), words[0])
}

const mostWords = 3

// help returns the help text for a single command, for the commands that share a first word, or for all commands.
func (r registry) help(words []string) (string, error) {
	if len(words) == 0 {
		return r.overview(), nil
	}
	if group := r.group(words[0]); len(group) > 0 && group[0].name != words[0] && len(words) == 1 {
		return group.listing(), nil
	}
	found, err := r.find(words)
	if err != nil {
		return "", err
	}
	return found.usage(), nil
}

func (r registry) group(word string) registry {
	return slices.DeleteFunc(slices.Clone(r), func(c command) bool { return strings.Fields(c.name)[0] != word })
}

// below returns the commands whose names begin with the given words, followed by further words.
func (r registry) below(words string) registry {
	return slices.DeleteFunc(slices.Clone(r), func(c command) bool { return !strings.HasPrefix(c.name, words+" ") })
}

// words returns the distinct words at the given position in all command names.
func (r registry) words(place int) []string {
	all := make([]string, 0, len(r))
	for _, c := range r {
		all = append(all, strings.Fields(c.name)[place])
	}
	return slices.Compact(all)
}

func (r registry) overview() string {
	var text strings.Builder
	text.WriteString("usage: ctl [-stack NAME | -outputs FILE] [-o table|json] COMMAND [flags]\n\n")
	for _, c := range r {
		fmt.Fprintf(&text, "  %-22s %s\n", c.name, c.help)
	}
	text.WriteString(`
The default stack is the local stack of make run, from ` + localRun +
		`. Use -stack NAME for a stack on AWS, or -outputs FILE
for a stack whose outputs are in a file. ctl help WORD lists the flags of all commands that begin with the word, and
ctl COMMAND -h explains the flags of one command.

Output is a table on a terminal and JSON otherwise,
	unless -o is given. -org takes an organisation's ID, its name, or the
first letters of its name. If -mode is omitted, ctl uses the only mode that has what the command names. Commands that
can't be undone or that affect patients at once ask first, unless -yes is given.

Clients and registrations are shared by all organisations unless -org names one. Client secrets,
	webhook headers (a file
of lines NAME=VALUE) and replies to patients are read from a file, or from standard input with "-", never from an
argument, which other users of the machine could see. Write times as 2026-11-21T09:30:00Z.`)
	return text.String()
}

func (r registry) listing() string {
	lines := make([]string, 0, len(r))
	for _, c := range r {
		lines = append(lines, c.help+":\n  ctl "+strings.ReplaceAll(c.synopsis(), "\n", "\n  ctl "))
	}
	return strings.Join(lines, "\n")
}

func asks(word string) bool { return slices.Contains([]string{"help", "-h", "-help", "--help"}, word) }

// likely returns a "did you mean" question if word is similar enough to a known word.
func likely(word string, known []string) string {
	nearest := slices.MinFunc(known, func(a, b string) int { return cmp.Compare(distance(word, a), distance(word, b)) })
	if distance(word, nearest) > max(2, len(word)/3) {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", nearest)
}

// distance returns the edit distance between two words: the minimum number of letters to insert, delete or replace.
func distance(one, other string) int {
	row := make([]int, len(other)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(one) {
		before := row[0]
		row[0] = i + 1
		for j := range len(other) {
			changed := before
			if one[i] != other[j] {
				changed++
			}
			before = row[j+1]
			row[j+1] = min(row[j]+1, row[j+1]+1, changed)
		}
	}
	return row[len(other)]
}
