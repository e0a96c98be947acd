// Package remote judges links to other sites over several runs. A host that fails
// once says little about its page, so the package remembers every URL in a status
// cache, and calls a link dead only after the same failure in several runs.
//
//	cache, err := remote.Open(".sitelink/status.jsonl", nil)
//	record := remote.Judge(cache.Get(url), answer, time.Now(), remote.Policy{})
//	cache.Put(record)
//	err = cache.Close()
//
// [Judge] is the whole judgement: a pure function of the record, the host's answer
// and the time. [Open] opens the status cache, which several processes may use at
// once, and [Read] reads it without changing anything.
package remote
