# Functions for the commands in docs/operate. Source this file with bash in the repository's root, after setting stack
# to the stack's name if it isn't recordbridge.
stack=${stack:-recordbridge}

# ctl runs the operator's command line. CTL can name a built program.
CTL=${CTL:-go run ./infra/ctl}
ctl() { $CTL -stack "$stack" "$@"; }

# resource prints the physical ID of a resource, given its logical ID in template.yaml.
resource() {
	aws cloudformation describe-stack-resource --stack-name "$stack" --logical-resource-id "$1" \
		--query StackResourceDetail.PhysicalResourceId --output text
}
