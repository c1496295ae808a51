package policy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	alarmName = regexp.MustCompile("`(\\w+Alarm)`")
	alarmHead = regexp.MustCompile(`^\| (Page|Ticket) \| Runbook \|$`)
	alarmRow  = regexp.MustCompile(`^\| (.*) \| \[[^\]]+\]\((runbooks/[a-z0-9-]+\.md)\) \|$`)
	adrName   = regexp.MustCompile(`^docs/adr/(\d{4})-[a-z0-9-]+\.md$`)
	adrUnused = regexp.MustCompile(`(?m)^The numbers? ([\d, and]+) (?:is|are) unused`)
	adrHead   = regexp.MustCompile(`^# (\d+)\. .+\n\n\d{4}-\d{2}-\d{2}\. Status: [a-z].+\.\n`)
)

// AlarmRows reports alarms that do not have exactly one row in docs/operate/alarms.md, which has a table for each
// severity. It also reports alarms whose description has a severity or runbook different from the row's, and names in
// the tables that do not belong to an alarm.
func AlarmRows(s *Stack, document []byte) []Finding {
	const where = "docs/operate/alarms.md"
	var found findings
	rows, severity := map[string][][2]string{}, ""
	for line := range strings.Lines(string(document)) {
		line = strings.TrimRight(line, "\n")
		if head := alarmHead.FindStringSubmatch(line); head != nil {
			severity = head[1]
		}
		if row := alarmRow.FindStringSubmatch(line); row != nil {
			for _, m := range alarmName.FindAllStringSubmatch(row[1], -1) {
				rows[m[1]] = append(rows[m[1]], [2]string{severity + ": ", " Runbook docs/operate/" + row[2]})
			}
		}
	}
	for _, a := range s.of(kindAlarm) {
		described := short(a.Properties["AlarmDescription"])
		if n := len(rows[a.ID]); n != 1 {
			found.addf(where, "%s has %d rows, want one", a.ID, n)
		} else if row := rows[a.ID][0]; !strings.HasPrefix(described, row[0]) || !strings.HasSuffix(described, row[1]) {
			found.addf(where, "%s is described by %q, which differs from its row", a.ID, described)
		}
		delete(rows, a.ID)
	}
	for name := range rows {
		found.addf(where, "there is no alarm %s", name)
	}
	return found.sorted()
}

// maxRooms is the maximum number of folders in shared/ (docs/develop/architecture.md, "Rooms").
const maxRooms = 12

// Rooms reports rooms (folders in shared/) that have no doc.go, and folders in a room that are not named in the room's
// doc.go. Rooms also checks that there are at most maxRooms rooms.
func Rooms(t *Tree) []Finding {
	var found findings
	documents := map[string][]byte{}
	for _, f := range t.Files {
		if room, ok := strings.CutSuffix(f.Path, "/doc.go"); ok && path.Dir(room) == "shared" {
			documents[room] = f.Text
		}
	}
	rooms := map[string]bool{}
	for _, f := range t.Files {
		parts := strings.Split(f.Path, "/")
		if parts[0] != "shared" || len(parts) < 3 {
			continue
		}
		room := "shared/" + parts[1]
		rooms[room] = true
		isPackage := len(parts) > 3 && strings.HasSuffix(f.Path, ".go") && parts[2] != "testdata"
		if named := regexp.MustCompile(`\b` + parts[2] + `\b`); isPackage && !named.Match(documents[room]) {
			found.addf(room+"/doc.go", "does not name %s", parts[2])
		}
	}
	if len(rooms) > maxRooms {
		found.addf("shared", "has %d rooms, at most %d", len(rooms), maxRooms)
	}
	return found.sorted()
}

var (
	versionLine = regexp.MustCompile(`^\d+\.\d+\.\d+\n$`)
	releaseHead = regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$`)
)

// Version reports a version in .version that is malformed or differs from the newest release in the changelog.
func Version(version, changelog []byte) []Finding {
	var found findings
	if !versionLine.Match(version) {
		found.addf(".version", "want one line of the form 1.2.3")
	}
	newest := releaseHead.FindSubmatch(changelog)
	if newest == nil || string(newest[1]) != strings.TrimSpace(string(version)) {
		found.addf("CHANGELOG.md", "the newest release is not %s, the version of .version",
			strings.TrimSpace(string(version)))
	}
	return found.sorted()
}

// Decisions reports invalid decision records (docs/adr). A decision record is invalid if its title does not contain the
// file's number, if the date or status is missing, or if the folder's README does not list the record. Decisions also
// reports duplicate numbers, and missing numbers that the README does not list as unused.
func Decisions(t *Tree) []Finding {
	const readme = "docs/adr/README.md"
	index := string(t.Text(readme))
	var found findings
	var numbers []int
	for _, f := range t.Files {
		m := adrName.FindStringSubmatch(f.Path)
		if path.Dir(f.Path) != path.Dir(readme) || f.Path == readme {
			continue
		}
		head := adrHead.FindSubmatch(f.Text)
		if m == nil || head == nil || fmt.Sprintf("%04s", head[1]) != m[1] {
			found.addf(f.Path, `want "# N. Title", an empty line, and "YYYY-MM-DD. Status: accepted."`)
			continue
		}
		number, _ := strconv.Atoi(m[1]) // can't fail, because the pattern matches four digits
		if slices.Contains(numbers, number) {
			found.addf(f.Path, "the number %d is used twice", number)
		}
		numbers = append(numbers, number)
		if name := path.Base(f.Path); !strings.Contains(index, "("+name+")") {
			found.addf(readme, "does not list %s", name)
		}
	}
	unused := regexp.MustCompile(`\d+`).FindAllString(strings.Join(adrUnused.FindStringSubmatch(index), " "), -1)
	for number := 1; len(numbers) > 0 && number < slices.Max(numbers); number++ {
		if !slices.Contains(numbers, number) && !slices.Contains(unused, strconv.Itoa(number)) {
			found.addf(readme, "does not name %d as unused", number)
		}
	}
	return found.sorted()
}
