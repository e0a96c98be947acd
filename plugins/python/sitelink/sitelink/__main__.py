from sitelink import main

main()
