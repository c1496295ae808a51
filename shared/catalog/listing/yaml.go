package listing

import (
	"bufio"
	"context"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

type handList struct {
	out       *output
	endpoints map[string]Endpoint
	portals   map[string]Portal
}

// readYAML strictly reads a manually maintained list and reports problems by line number.
func readYAML(ctx context.Context, list *bufio.Reader, out *output) error {
	text, err := io.ReadAll(io.LimitReader(list, maxByHand+1))
	if err != nil {
		return err //nolint:wrapcheck // bounded's own
	}
	if len(text) > maxByHand {
		return refused(TooLarge)
	}
	sections, err := sectionsOf(text)
	if err != nil {
		return err
	}
	h := handList{out: out, endpoints: make(map[string]Endpoint), portals: make(map[string]Portal)}
	for _, section := range []struct {
		name string
		take func(key string, node *yaml.Node) error
	}{{"endpoints", h.endpoint}, {"portals", h.portal}, {"brands", h.brand}} {
		err := h.each(ctx, sections[section.name], section.take)
		if err != nil {
			return err
		}
	}
	return nil
}

func sectionsOf(text []byte) (map[string]*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, &Refused{Reason: NotFormat, Line: lineOf(err)}
	}
	if len(document.Content) == 0 {
		return nil, refused(Empty)
	}
	root := document.Content[0]
	if line := aliased(root, 0); line > 0 {
		return nil, &Refused{Reason: Unknown, Line: line}
	}
	if root.Kind != yaml.MappingNode {
		return nil, &Refused{Reason: NotFormat, Line: root.Line}
	}
	sections := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, section := root.Content[i], root.Content[i+1]
		switch {
		case !slices.Contains([]string{"endpoints", "portals", "brands"}, name.Value):
			return nil, &Refused{Reason: Unknown, Line: name.Line}
		case sections[name.Value] != nil:
			return nil, &Refused{Reason: TwoValues, Line: name.Line}
		case section.Kind != yaml.MappingNode:
			return nil, &Refused{Reason: NotFormat, Line: section.Line}
		}
		sections[name.Value] = section
	}
	return sections, nil
}

// aliased returns the line of the first anchor, alias or excessively nested value, or 0 if the document contains none.
// A YAML alias can expand a short document into a large one.
func aliased(node *yaml.Node, depth int) int {
	if node.Kind == yaml.AliasNode || node.Anchor != "" || depth > maxDepth {
		return node.Line
	}
	for _, below := range node.Content {
		if line := aliased(below, depth+1); line > 0 {
			return line
		}
	}
	return 0
}

func (h handList) each(ctx context.Context, section *yaml.Node, take func(key string, node *yaml.Node) error) error {
	if section == nil {
		return nil
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(section.Content); i += 2 {
		name, node := section.Content[i], section.Content[i+1]
		if err := h.out.entry(ctx); err != nil {
			return err
		}
		if seen[name.Value] {
			h.out.report.omitted(DuplicateKey, at(name.Line, name.Value))
			continue
		}
		seen[name.Value] = true
		if err := take(name.Value, node); err != nil {
			return err
		}
	}
	return nil
}
