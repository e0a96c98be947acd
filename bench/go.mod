module github.com/sitelink/sitelink/bench

go 1.26.0
