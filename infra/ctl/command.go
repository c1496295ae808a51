package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// command is one thing that ctl does. Its help is made of this; docs/operate/ctl.md adds effects and warnings.
type command struct {
	name     string   // its two words, or three, or the one that says it all
	flags    string   // as people write them; a line for each way to use it
	help     string   // what it does, in one line
	needs    []string // flags without which it cannot begin
	offline  bool     // begins without a stack, and opens it itself if it wants one (session.open)
	operands bool     // takes what follows its flags, such as files
	declare  func(flags *flag.FlagSet) action
}

// action does what the flags say, which are parsed by then, and returns what is printed; nil
// when it has printed itself.
type action func(ctx context.Context, s session) (any, error)

// synopsis is how the command is written, a line for each way.
func (c command) synopsis() string {
	return strings.TrimSpace(c.name + " " + strings.ReplaceAll(c.flags, "\n", "\n"+c.name+" "))
}

// usage is all that is known of the command.
func (c command) usage() string {
	var text strings.Builder
	fmt.Fprintf(&text, "usage: ctl %s\n\n%s.", strings.ReplaceAll(c.synopsis(), "\n", "\n       ctl "), c.help)
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.declare(flags)
	flags.SetOutput(&text)
	if c.flags != "" {
		text.WriteString("\n\n")
		flags.PrintDefaults()
	}
	return strings.TrimRight(text.String(), "\n")
}

// registry is every command, in the order in which they are told.
type registry []command

func commands() registry {
	return slices.Concat(
		organisationCommands(), liveAccessCommands(), credentialCommands(), webhookCommands(), webhookSetCommands(),
		deliveryCommands(), endpointCommands(),
		platformCommands(), clientCommands(), registrationCommands(), keyCommands(),
		catalogCommands(), catalogHealthCommands(), connectionCommands(), exportCommands(), inquiryCommands(),
		restoreCommands(), auditCommands(),
		doctorCommands(), resealCommands(), redriveCommands(), explainCommands(), ccdaCommands(),
	)
}

// find returns the command of these words; what is wrong with them is a usageError.
func (r registry) find(words []string) (command, error) {
	if len(words) == 0 {
		return command{}, misused("no command\n%s", r.overview())
	}
	group := r.group(words[0])
	if len(group) == 0 {
		return command{}, misused("there is no command %q%s; ctl help lists all", words[0], likely(words[0], r.words(0)))
	}
	if group[0].name == words[0] {
		return group[0], nil
	}
	if len(words) == 1 {
		return command{}, misused("%s needs another word\n%s", words[0], group.listing())
	}
	for n := min(len(words), mostWords); n > 1; n-- {
		name := strings.Join(words[:n], " ")
		if i := slices.IndexFunc(group, func(c command) bool { return c.name == name }); i >= 0 {
			return group[i], nil
		}
	}
	if below := group.below(words[0] + " " + words[1]); len(below) > 0 {
		return command{}, misused("%s needs another word\n%s", words[0]+" "+words[1], below.listing())
	}
	return command{}, misused("there is no command %q%s; ctl help %s lists what there is", words[0]+" "+words[1],
		likely(words[1], group.words(1)), words[0])
}

// mostWords is how many words a command has at most.
const mostWords = 3

// help is what there is to say of all commands, of those with one first word, or of one.
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

// below are the commands of more words that begin with these.
func (r registry) below(words string) registry {
	return slices.DeleteFunc(slices.Clone(r), func(c command) bool { return !strings.HasPrefix(c.name, words+" ") })
}

// words are the first or second words of the commands.
func (r registry) words(place int) []string {
	all := make([]string, 0, len(r))
	for _, c := range r {
		all = append(all, strings.Fields(c.name)[place])
	}
	return slices.Compact(all)
}

func (r registry) overview() string {
	var text strings.Builder
	text.WriteString("usage: ctl [-stack NAME | -outputs FILE] COMMAND [flags]\n\n")
	for _, c := range r {
		fmt.Fprintf(&text, "  %-22s %s\n", c.name, c.help)
	}
	text.WriteString(`
Without -stack and -outputs the stack is that of make run, as ` + localRun +
		` says; -stack NAME is one on AWS, -outputs FILE
one whose outputs are in a file. ctl help WORD lists the flags of all commands that begin with the word, ctl COMMAND -h
explains those of one.

Clients and registrations are shared by all organisations unless -org names one. A client secret is read from a file, or
from the input with "-secret-file -", and never from an argument, which others on the machine could see. So are the
headers that a webhook is to be sent with, a file of lines NAME=VALUE, and an answer to a patient. ` +
		`Times are like 2026-11-21T09:30:00Z.`)
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

// likely asks for the word that was meant, if one is near enough.
func likely(word string, known []string) string {
	nearest := slices.MinFunc(known, func(a, b string) int { return cmp.Compare(distance(word, a), distance(word, b)) })
	if distance(word, nearest) > max(2, len(word)/3) {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", nearest)
}

// distance is how many letters have to be put in, taken out or changed to make one word of the other.
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
