package listing

// Limits on a published list. The largest published list, Epic's brands, is about 95 MB and contains 100,000
// institutions, with entries of about 1 KiB.
const (
	maxBytes   = 256 << 20 // maximum size in bytes of a decompressed list
	maxEntries = 400_000
	maxEntry   = 1 << 20 // in bytes
	maxMember  = 64 << 10
	maxDepth   = 64
	maxByHand  = 4 << 20 // maximum size in bytes of a manually maintained list, held in memory
)

// Limits on a list entry. Overlong strings and excess elements are omitted and reported.
const (
	maxName        = 300 // maximum name length in runes
	maxDescription = 4000
	maxAddress     = 2000 // maximum length in bytes of a server's or page's URL
	maxKey         = 300
	maxAliases     = 100
	maxIdentifiers = 100
	maxNPIs        = 500
	maxLocations   = 5000
	maxPortals     = 50
	maxEndpoints   = 200 // maximum number of endpoints per portal
	maxAbove       = 8   // number of ancestors searched for an institution's portal; SMART allows two levels
)
