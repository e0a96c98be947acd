"""What is gone between two builds of a site, found without sitelink.

    truth.py OLD NEW

prints a line for each address that OLD answers and NEW does not, and one for each
id that a page of both had in OLD and has not in NEW. NEW is served by Python's web
server, which is asked for every address; ids are read with Python's HTML parser.
The rules of a file _redirects answer too, as on Netlify: those of OLD that name an
address in full, and all of NEW.
"""

import functools
import http.client
import http.server
import os
import re
import sys
import threading
import urllib.parse
from html.parser import HTMLParser

OLD, NEW = sys.argv[1:]
PAGES = (".html", ".htm", ".xhtml")
ASSETS = (".css .js .mjs .cjs .map .wasm .scss .less .woff .woff2 .ttf .otf .eot .cur").split()
HOST = ("_redirects _headers _routes.json _worker.js CNAME netlify.toml vercel.json firebase.json staticwebapp.config.json").split()


class Server(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def list_directory(self, path):
        self.send_error(404, "no index file")

    def log_message(self, *args):
        pass


class Ids(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.alias = set(), False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(reversed(attrs))  # the first of two equal attributes counts
        if attrs.get("id"):
            self.ids.add(attrs["id"])
        if tag == "a" and attrs.get("name"):
            self.ids.add(attrs["name"])
        if tag == "meta" and (attrs.get("http-equiv") or "").lower() == "refresh":
            self.alias = True


def page(root, file):
    with open(os.path.join(root, file), encoding="utf-8", errors="replace") as f:
        return Ids(f.read())


def fingerprinted(name):
    stem = name[: name.rindex(".")] if "." in name[1:] else name
    words = re.split(r"[.\-_~@]+", stem)
    for i, word in enumerate(words):
        if re.search(r"[0-9]", word) and re.search(r"[A-Za-z]", word) and (i > 0 or len(word) >= 32):
            if re.fullmatch(r"[0-9a-fA-F]{8,}", word):
                return True
            if re.fullmatch(r"[0-9A-Za-z]{8,12}", word) and len(re.findall("[a-z]", word)) > 1 and len(re.findall("[A-Z]", word)) > 1:
                return True
        if i > 0 and (re.fullmatch(r"hu[0-9a-fA-F]{8,}", word) or word == "hu" and i + 1 < len(words) and re.fullmatch("[0-9a-fA-F]+", words[i + 1])):
            return True
    return False


def files():
    for top, dirs, names in os.walk(OLD):
        dirs[:] = sorted(d for d in dirs if not d.startswith(".") or d == ".well-known")
        for name in sorted(names):
            extension = os.path.splitext(name)[1].lower()
            if name.startswith(".") or extension in ASSETS or name in HOST:
                continue
            if extension not in PAGES and fingerprinted(name):
                continue
            if os.path.exists(os.path.join(top, name)):
                yield os.path.relpath(os.path.join(top, name), OLD).replace(os.sep, "/")


def rules(root):
    try:
        with open(os.path.join(root, "_redirects"), encoding="utf-8") as f:
            words = [line.split() for line in f]
    except FileNotFoundError:
        return []
    return [w[0] for w in words if len(w) > 1 and w[0].startswith("/")]


def ruled(address, sources):
    return any(address.rstrip("/") == s.rstrip("/") or s.endswith("*") and address.startswith(s[:-1]) for s in sources)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=NEW))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
    found, new_rules = set(), rules(NEW)
    for source in rules(OLD):
        client.request("GET", source)
        answer = client.getresponse()
        answer.read()
        if not re.search(r"[*:]", source) and answer.status != 200 and not ruled(source, new_rules):
            found.add(source)
    for file in files():
        address = "/" + (file[: -len("index.html")] if file == "index.html" or file.endswith("/index.html") else file)
        client.request("GET", urllib.parse.quote(address))
        answer = client.getresponse()
        answer.read()
        if answer.status != 200:
            if not ruled(address, new_rules):
                found.add(address)
            continue
        new = os.path.join(NEW, file)
        if file.lower().endswith(PAGES) and os.path.isfile(new):
            now = page(NEW, file)
            if not now.alias:
                found |= {address + "#" + i for i in page(OLD, file).ids - now.ids if i.lower() != "top"}
    server.shutdown()
    sys.stdout.write("".join(line + "\n" for line in sorted(found)))


main()
