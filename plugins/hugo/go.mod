module github.com/sitelink/sitelink/plugins/hugo

go 1.21
