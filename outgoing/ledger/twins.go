package ledger

// settleTwins drops notices of no protocol yet that another runner, or another
// branch, has meanwhile brought to a protocol: the same event of the same entry
// is told once.
func (b *book) settleTwins() {
	for k, n := range b.notices {
		if k.Protocol != AnyProtocol {
			continue
		}
		for _, p := range []Protocol{Webmention, Pingback} {
			twin, ok := b.notices[Key{k.Source, k.Target, p}]
			if ok && twin.Event == n.Event && twin.Hash == n.Hash && n.Hash != "" {
				delete(b.notices, k)
				break
			}
		}
	}
}
