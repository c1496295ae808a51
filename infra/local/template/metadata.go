package template

import "go.yaml.in/yaml/v3"

// standIn puts what is anchored in a template's Metadata section in the place of the aliases that resources have as
// their Metadata: a waiver that is the same for all functions is written once. Nowhere else are aliases understood. SAM
// writes them out when it builds, since CloudFormation takes none.
func standIn(root *yaml.Node) {
	for _, section := range entries(root) {
		switch section.key {
		case "Metadata":
			for _, e := range entries(section.value) {
				e.value.Anchor = ""
			}
		case "Resources":
			for _, r := range entries(section.value) {
				for _, attribute := range entries(r.value) {
					if attribute.key == "Metadata" && attribute.value.Kind == yaml.AliasNode {
						*attribute.value = *attribute.value.Alias
					}
				}
			}
		}
	}
}

// metadata reads what stands beside a resource's properties: linters' waivers, which .ci/template judges, and for a
// function how SAM builds it.
func metadata(r resource, err *error) {
	if r.metadata == nil {
		return
	}
	o := within(r.metadata, "Metadata.", err, r.line)
	o.ignore("cfn-lint", "checkov")
	if r.kind == kindFunction {
		o.oneOf("BuildMethod", "makefile")
	}
	o.finish()
}
