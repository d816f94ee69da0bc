"""Evidence for a judge: searches, pages, and a store that can return every quoted text."""
