"""How the site is built from docs/: hooks of mkdocs, named in mkdocs.yml."""
