// Package catalog is a folder of lists for operators: the published ones that are known (sources.yaml), of which none is fetched before an operator
// has made a source of it, and an example of one that is kept by hand. Its tests read them as the service would.
package catalog
