project = "Example"
extensions = ["sphinx_sitelink"]
