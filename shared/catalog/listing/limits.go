package listing

// What is read of one list. The largest that is published, Epic's brands, has some 95 MB and 100,000 institutions; its
// entries have about 1 KiB.
const (
	maxBytes   = 256 << 20 // of a list, unpacked
	maxEntries = 400_000
	maxEntry   = 1 << 20 // bytes
	maxMember  = 64 << 10
	maxDepth   = 64
	maxByHand  = 4 << 20 // bytes of a hand-kept list, which is in memory whole
)

// What is read of one entry; what is longer or more is left out and told.
const (
	maxName        = 300 // runes
	maxDescription = 4000
	maxAddress     = 2000 // bytes, of servers and of pages
	maxKey         = 300
	maxAliases     = 100
	maxIdentifiers = 100
	maxNPIs        = 500
	maxLocations   = 5000
	maxPortals     = 50
	maxEndpoints   = 200 // of a portal
	maxAbove       = 8   // levels that an institution looks up for who gives its patients access; SMART allows two
)
